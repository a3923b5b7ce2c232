#!/bin/sh
# Captures the three shutdowns again, in /srv/demo; takes a bit over a minute.
# usage: sh capture.sh [before|after|parallel]…
set -e
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- before after parallel
for version in "$@"; do
    place=/srv/demo/shutdown
    mkdir -p "$place"
    cp "$here"/*.sh "$here"/*.pl "$place"
    cd "$place"
    env -i PATH=/usr/bin:/bin strace -f -ttt -T -y -o "$version.strace" \
        sh machine.sh "$version" </dev/null >/dev/null 2>&1
    xz -9e -c "$version.strace" > "$here/$version.strace.xz"
    rm -r "$place"
done
