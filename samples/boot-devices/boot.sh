#!/bin/sh
# A boot in small: devices, then a table of them, then a service. Each step waits for the one before it.
# usage: boot.sh rescan|once N
mkdir dev
perl attach.pl "$1" "$2"
ls dev > table
sh service.sh
