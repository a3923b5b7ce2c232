#!/bin/sh
# One stop method after the other, each only as long as its process lives.
for name in web mail print cache database; do sh stop.sh "$name"; done
sh stop.sh agent kill
