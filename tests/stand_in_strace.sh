#!/bin/sh
# Stands in for strace. Files beside it say what it prints: NAME.help, and NAME.run or NAME.attach if it refuses.
# Otherwise it writes NAME.trace, as a capture of any command, and runs the command untraced.
refuse() {
    if [ -e "$1" ]; then
        cat "$1" >&2
        exit 1
    fi
}
case "$1" in
-V) echo "strace -- version 6.1" && exit ;;
-h) cat "$0.help" && exit ;;
esac
for word; do
    [ "$word" = -p ] && refuse "$0.attach"
done
refuse "$0.run"
while [ "$1" != -- ]; do
    [ "$1" = -o ] && cat "$0.trace" >"$2"
    shift
done
shift
exec "$@"
