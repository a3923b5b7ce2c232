#!/bin/sh
# Starts one jail: reads its configuration, sets up its network, starts its services.
# usage: jail.sh before|after NUMBER
#
# Each stage that is done gets a line with the time in staged.log.
stage() {
    echo "$(date '+%F %T.%6N') jail $1: $2" >> staged.log
}

# What a start-up script asks of rc.conf, one question after the other, each with its own awk.
question() {
    awk -F= -v name="$1" '$1 == name { value = $2 } END { print value }' rc.conf
}

read_configuration() {
    for name in hostname ifconfig sshd_enable cron_enable syslogd_enable sendmail_enable; do
        question "$name" > "jails/$1/$name"
    done
    sed 's/#.*//' rc.conf > "jails/$1/rc.conf"
}

# The routing table belongs to the host: one at a time.
set_up_network() {
    cat "jails/$1/ifconfig" >> routes
    sort -u routes > routes.new
    mv routes.new routes
}

start_services() {
    for service in syslogd cron sshd; do
        awk -F= -v name="$service" '$1 ~ name { lines++ } END { print lines + 0 }' rc.conf > "jails/$1/$service.pid"
    done
}

way=$1
number=$2
mkdir -p "jails/$number"
stage "$number" "start"
exec 9> lock
if [ "$way" = before ]; then
    flock 9
    stage "$number" "has the lock"
    read_configuration "$number"
    stage "$number" "rc.conf read"
    set_up_network "$number"
    stage "$number" "network up"
    exec 9>&-
else
    read_configuration "$number"
    stage "$number" "rc.conf read"
    flock 9
    stage "$number" "has the lock"
    set_up_network "$number"
    stage "$number" "network up"
    exec 9>&-
fi
start_services "$number"
stage "$number" "services started"
