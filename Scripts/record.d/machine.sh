#!/bin/sh
# machine.sh CHASSIS: on a host of a lab, makes /run/root, a view of the file system in which the host has a chassis of this type
# (DMTF DSP0134, 7.4.1: 3 desktop, 9 laptop, 23 server), is no container, and has an empty /home/me. Programs see it by
# `chroot /run/root`.
set -eu

mkdir -p /run/root /run/over
mount -t tmpfs tmpfs /run/over
mkdir /run/over/upper /run/over/work
mount -t overlay overlay -o lowerdir=/,upperdir=/run/over/upper,workdir=/run/over/work /run/root
rm -f /run/root/.dockerenv
mkdir -p /run/root/home/me
for folder in dev proc run sys tmp; do mount --rbind "/$folder" "/run/root/$folder"; done
rm -f /run/root/run/.containerenv
mount -t tmpfs tmpfs /run/root/sys/class
mkdir -p /run/root/sys/class/dmi/id /run/root/sys/class/net
mount --bind /sys/class/net /run/root/sys/class/net
echo "$1" >/run/root/sys/class/dmi/id/chassis_type
