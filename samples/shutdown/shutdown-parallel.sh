#!/bin/sh
# All stop methods at once.
for name in web mail print cache database; do sh stop.sh "$name" & done
sh stop.sh agent kill &
wait
