#!/bin/sh
# Records nginx and php-fpm while clients ask for a page that sleeps with a lock: server.sh CAPTURE. The folder is its own.
set -e
mkdir pages
cat > pages/order.php << 'END'
<?php
$journal = fopen("journal.db", "c");
flock($journal, LOCK_EX);
usleep(250000);
flock($journal, LOCK_UN);
echo "ordered\n";
END
user=$(id -un)
cat > nginx.conf << END
pid $PWD/nginx.pid;
error_log $PWD/error.log;
user $user;
worker_processes 1;
events { worker_connections 64; }
http {
  access_log off;
  server {
    listen 127.0.0.1:8951;
    location / {
      fastcgi_param REQUEST_METHOD GET;
      fastcgi_param SCRIPT_FILENAME $PWD/pages/order.php;
      fastcgi_pass unix:$PWD/php.sock;
    }
  }
}
END
cat > fpm.conf << END
[global]
pid = $PWD/fpm.pid
error_log = $PWD/error.log
[www]
user = $user
group = $(id -gn)
listen = $PWD/php.sock
pm = static
pm.max_children = 2
END
nginx -c "$PWD/nginx.conf" 2> /dev/null
"$(command -v php-fpm || ls /usr/sbin/php-fpm* | head -n 1)" --allow-to-run-as-root --fpm-config "$PWD/fpm.conf" 2> /dev/null
trap 'kill $(cat nginx.pid fpm.pid)' EXIT
for client in 1 2 3; do
  while [ ! -e ended ]; do curl -s http://127.0.0.1:8951/ > answer$client; done &
done
python3 -m tracealyze record --pid "$(cat nginx.pid),$(cat fpm.pid)" --for 3s -o "$1" > record.log 2>&1
touch ended
