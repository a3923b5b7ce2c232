#!/bin/sh
# Starts JAILS jails "in parallel".
# usage: host.sh before|after JAILS
rm -rf jails staged.log
: > routes
number=1
while [ "$number" -le "$2" ]; do
    sh jail.sh "$1" "$number" &
    number=$((number + 1))
done
wait
