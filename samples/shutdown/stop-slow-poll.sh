#!/bin/sh
# A stop method that looks once a second whether the process is gone.
pid=$(cat "run/$1.pid")
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 1; done
