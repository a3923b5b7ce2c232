#!/bin/sh
# One stop method after the other, then everything that is left: asked, five seconds, killed, ten seconds.
for name in web mail print; do sh stop-fixed.sh "$name"; done
for name in cache database; do sh stop-slow-poll.sh "$name"; done
killall() {
    for file in run/*.pid; do kill "$1" "$(cat "$file")" 2>/dev/null; done
}
killall -TERM
sleep 5
killall -KILL
sleep 10
