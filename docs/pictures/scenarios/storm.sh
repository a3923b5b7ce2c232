#!/bin/sh
# Counts words of each line with a process per line.
total=0
i=0
while [ $i -lt 120 ]; do
  words=$(echo "line $i has some words" | wc -w | tr -d ' ')
  name=$(basename /srv/data/file$i.txt .txt)
  total=$((total + words))
  i=$((i + 1))
done
echo $total
