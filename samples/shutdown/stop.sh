#!/bin/sh
# A stop method that returns as soon as the process is gone.
# usage: stop.sh NAME [kill]      with "kill" it gives the process about five seconds, no more
pid=$(cat "run/$1.pid")
kill "$pid"
looks=0
while kill -0 "$pid" 2>/dev/null; do
    if [ "$looks" -eq 48 ] && [ "$2" = kill ]; then kill -9 "$pid"; fi
    looks=$((looks + 1))
    sleep 0.1
done
