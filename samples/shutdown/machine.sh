#!/bin/sh
# Starts six services, then shuts them all down as told.
# usage: machine.sh before|after|parallel
mkdir -p run
start() {
    perl service.pl "$1" "$2" &
}
start web 0.1
start mail 0.1
start print 0.1
start cache 3.8
start database 6.8
start agent never
for name in web mail print cache database agent; do
    until [ -s "run/$name.pid" ]; do sleep 0.02; done
done
sh "shutdown-$1.sh"
