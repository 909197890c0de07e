#!/usr/bin/env bash
# windows.sh CHECKOUT LAB FOLDER PROGRAM: on a lab with the hosts study, laptop and kitchen, draws the share sheet of
# the study and the notification in the kitchen. It leaves share-sheet.png and notification.png in FOLDER.
set -euo pipefail

# Each background program leads a process group, so that the trap ends its children, too.
set -m
root=$1 lab=$2 work=$3 waft=$4
started=()
trap '((${#started[@]} == 0)) || kill -- "${started[@]/#/-}" 2>/dev/null || true; wait' EXIT

# on HOST COMMAND…: runs a command on a host, with a home of its own.
on() {
    local host=$1 home=$work/$1
    shift
    "$root/Scripts/lab" run "$lab" "$host" env -u WAFT_HOME HOME="$home" WAFT_NAME="$host" LC_ALL=C.UTF-8 \
        XDG_RUNTIME_DIR="$home/run" DISPLAY="$display" DBUS_SESSION_BUS_ADDRESS="unix:path=$work/bus" "$@"
}

# until COMMAND…: waits for a command to succeed, for 30 s.
until_it() {
    for _ in {1..300}; do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "record: this did not come true: $*" >&2
    return 1
}

picture() { import -display "$display" -window root -trim +repage "$work/$1"; }

for host in study laptop kitchen; do mkdir -p -m 700 "$work/$host/run"; done
convert -size 1600x1200 gradient:skyblue-seagreen "$work/study/photo.jpg"

Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3>"$work/display" 2>/dev/null &
started+=($!)
until_it test -s "$work/display"
display=:$(<"$work/display")
export DISPLAY=$display
dbus-daemon --session --nofork --address="unix:path=$work/bus" 2>/dev/null &
started+=($!)
until_it test -S "$work/bus"
on kitchen dunst -conf /dev/null 2>/dev/null &
started+=($!)

for host in laptop kitchen; do
    on "$host" "$waft" receive --accept ask >"$work/$host/log" 2>&1 </dev/null &
    started+=($!)
    until_it grep -q 'Receiving as' "$work/$host/log"
done
on study "$waft" contacts allow "$(on laptop "$waft" contacts me --json | sed 's/.*"id":"\([^"]*\)".*/\1/')" \
    --name laptop >/dev/null
for host in laptop kitchen; do on "$host" "$waft" visible everyone >/dev/null; done

on study "$waft" share --window "$work/study/photo.jpg" --exclude-activity org.waft.activity.mail &
sheet=$!
until_it xdotool search --onlyvisible --name 'Share with Waft'
# The first look for machines takes a second.
sleep 3
picture share-sheet.png
xdotool search --name 'Share with Waft' windowfocus key Escape || true
wait "$sheet" || true

on study "$waft" send "$work/study/photo.jpg" --to kitchen --timeout 20 >/dev/null 2>&1 &
sending=$!
until_it sh -c "DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus dunstctl count displayed | grep -qx 1"
sleep 1
picture notification.png
on kitchen "$waft" decline 1 >/dev/null
wait "$sending" || true
