#!/bin/bash
# PID 1 of the image: starts the command, hands signals on, ends with its code. And it is bash for a reason: bash
# reaps every child, so what a stdio server leaves behind does not stay as a zombie, as it would under Node.
command_pid=
told=
for signal in TERM INT HUP; do
  trap "told=$signal; [ -z \"\$command_pid\" ] || kill -$signal \"\$command_pid\" 2>/dev/null" "$signal"
done
"$@" &
command_pid=$!
# To process 1 a signal without a trap is nothing, so one that comes this early is kept.
[ -z "$told" ] || kill "-$told" "$command_pid"

# A signal ends a wait early, so wait until the command is gone; then once more for the code that it left.
while kill -0 "$command_pid" 2>/dev/null; do wait "$command_pid"; done
wait "$command_pid"
