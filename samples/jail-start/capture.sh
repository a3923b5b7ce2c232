#!/bin/sh
# Captures both ways again, in /srv/demo; takes a few seconds.
# usage: sh capture.sh [JAILS]
set -e
here=$(cd "$(dirname "$0")" && pwd)
place=/srv/demo/jails
mkdir -p "$place"
cp "$here"/host.sh "$here"/jail.sh "$here"/rc-conf.sh "$place"
cd "$place"
sh rc-conf.sh
for version in before after; do
    env -i PATH=/usr/bin:/bin strace -f -ttt -T -y -o "$version.strace" \
        sh host.sh "$version" "${1:-6}" </dev/null >/dev/null 2>&1
    xz -9e -c "$version.strace" > "$here/$version.strace.xz"
    cp staged.log "$here/staged-$version.log"
done
# Sixteen one after the other: only the log, not traced.
env -i PATH=/usr/bin:/bin sh host.sh serial 16 </dev/null
cp staged.log "$here/staged-serial.log"
cd /
rm -r "$place"
