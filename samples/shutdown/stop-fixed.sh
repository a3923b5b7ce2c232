#!/bin/sh
# A stop method that waits five seconds, whatever happens.
kill "$(cat "run/$1.pid")"
sleep 5
