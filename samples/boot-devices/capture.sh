#!/bin/sh
# Captures all boots again, in /srv/demo; takes about a minute.
# usage: sh capture.sh [N]…
set -e
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- 10 20 40 80 160 320
place=/srv/demo/boot
mkdir -p "$place"
cp "$here"/boot.sh "$here"/attach.pl "$here"/service.sh "$place"
cd "$place"
capture() {
    rm -rf dev
    env -i PATH=/usr/bin:/bin strace -f -ttt -T -y -o "$3.strace" sh boot.sh "$1" "$2" </dev/null >/dev/null 2>&1
    xz -9e -c "$3.strace" > "$here/$3.strace.xz"
}
for devices in "$@"; do
    capture rescan "$devices" "boot-$devices"
    capture once "$devices" "boot-after-$devices"
done
cd /
rm -r "$place"
