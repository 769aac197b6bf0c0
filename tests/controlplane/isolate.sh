#!/bin/sh
# Runs a program in a root of its own that has extra folders, without leaving a trace on the machine.
# usage: isolate.sh NEW_ROOT CERTIFICATES PROGRAM [ARGUMENT ...]
# Kueue 0.17 has /etc/kueue/metrics/certs and /visibility compiled in as the places of its certificates.
set -eu
root=$1; certificates=$2; shift 2
mount -t tmpfs tmpfs "$root"
bring() { # bring FOLDER: everything in it, into the new root
  for entry in "$1"/* "$1"/.[!.]*; do
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    case $entry in //etc|/etc|//visibility|/etc/kueue) continue ;; esac
    target=$root/${entry#/}
    if [ -L "$entry" ]; then cp -P "$entry" "$target"
    elif [ -d "$entry" ]; then mkdir -p "$target"; mount --rbind "$entry" "$target"
    elif [ -f "$entry" ]; then : >"$target"; mount --bind "$entry" "$target"
    fi
  done
}
mkdir "$root/etc"
bring ""
bring /etc
for folder in "$root/etc/kueue/metrics/certs" "$root/visibility"; do
  mkdir -p "$folder"; cp "$certificates"/* "$folder"
done
exec chroot "$root" setpriv --pdeathsig KILL -- "$@"
