#!/bin/sh
# Writes a long rc.conf, as a host with many packages has it.
awk 'BEGIN {
    for (i = 1; i <= 30000; i++) printf "package%d_enable=NO # set by package %d\n", i, i
    split("sshd cron syslogd sendmail", services, " ")
    for (i = 1; i <= 4; i++) printf "%s_enable=YES\n", services[i]
    print "hostname=demo"
    print "ifconfig=inet 192.0.2.10 netmask 255.255.255.0"
}' > rc.conf
