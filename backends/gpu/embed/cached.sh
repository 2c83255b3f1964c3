#!/usr/bin/env bash
# cached.sh SOURCE OUT "SUFFIX…" VERSIONS COMMAND… [-- COMMAND…]…
#
# Runs the commands, which make the files OUT.SUFFIX of the kernel SOURCE, among them OUT.d, the list
# of files that were read; or takes the files from where an earlier build left them. So a kernel is
# compiled once for all presets, and for all copies of this tree.
#
# They are found by the contents of SOURCE, of what it included when it was last compiled and of the
# programs here, by the commands, and by VERSIONS, the versions of the compilers. They are kept in
# CONCORD_KERNEL_CACHE (default: ${XDG_CACHE_HOME:-~/.cache}/concord-kernels; "off": nowhere).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${here%/backends/gpu/embed}
source=$1
out=$2
read -ra suffixes <<<"$3"
versions=$4
shift 4

run_commands() {
  local word command=()
  for word in "$@" --; do
    if [ "$word" = -- ]; then
      "${command[@]}"
      command=()
    else
      command+=("$word")
    fi
  done
}

cache=${CONCORD_KERNEL_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/concord-kernels}
if [ "$cache" = off ] || ! mkdir -p "$cache" 2>/dev/null; then
  run_commands "$@"
  exit
fi

# The place of this tree and of the build folder are not part of what is done.
placeless() { sed -e "s|$PWD|@BUILD@|g" -e "s|$root|@ROOT@|g"; }
placed() { sed -e "s|@BUILD@|$PWD|g" -e "s|@ROOT@|$root|g" "$@"; }
hash_of() { sha256sum | cut -d' ' -f1; }

command_key=$({
  echo "$versions" "$@" | placeless
  cat "$source" "$here"/*
} | hash_of)
list=$cache/$command_key.includes

contents_key() {
  { echo "$command_key"; placed "$list" | xargs -d '\n' cat; } 2>/dev/null | hash_of
}

if [ -f "$list" ] && key=$(contents_key) && [ -d "$cache/$key" ]; then
  for suffix in "${suffixes[@]}"; do
    cp "$cache/$key/$suffix" "$out.$suffix"
  done
  placed "$cache/$key/d" >"$out.d"
  touch "$list" "$cache/$key"
  exit
fi

run_commands "$@"

kept=$(mktemp -d "$cache/new.XXXXXX")
for suffix in "${suffixes[@]}"; do
  cp "$out.$suffix" "$kept/$suffix"
done
placeless <"$out.d" >"$kept/d"
# A file's name has no spaces and no line is broken: slangc does neither escape nor break.
sed 's/^[^:]*: *//' "$kept/d" | tr -s ' ' '\n' | sed '/^$/d' >"$kept/includes"
mv "$kept/includes" "$list"
key=$(contents_key)
mv -T "$kept" "$cache/$key" 2>/dev/null || rm -rf "$kept"
# What another build moves meanwhile is none of find's business.
find "$cache" -mindepth 1 -maxdepth 1 -mtime +60 -exec rm -rf {} + 2>/dev/null || true
