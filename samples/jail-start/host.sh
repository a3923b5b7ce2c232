#!/bin/sh
# Starts JAILS jails "in parallel", or one after the other.
# usage: host.sh before|after|serial JAILS
rm -rf jails staged.log
: > routes
number=1
while [ "$number" -le "$2" ]; do
    case $1 in
        serial) sh jail.sh after "$number" ;;
        *) sh jail.sh "$1" "$number" & ;;
    esac
    number=$((number + 1))
done
wait
