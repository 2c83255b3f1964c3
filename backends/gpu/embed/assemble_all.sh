#!/bin/sh
# assemble_all.sh PTXAS KERNEL_EMBED PTX_DIR SPILLS.txt OUT_DIR SM…: assembles every PTX file for
# every SM that its target reaches, two at a time, and writes OUT_DIR/kernels_sm_SM.tsv. Fails where
# ptxas does, or where a kernel spills.
set -e
ptxas=$1 embed=$2 ptx=$3 spills=$4 out=$5
shift 5
here=$(dirname "$0")
mkdir -p "$out"
for sm in "$@"; do
  rm -rf "$out/sm_$sm"
  mkdir -p "$out/sm_$sm"
  for file in "$ptx"/*.ptx; do
    case $file in *.raw.ptx) continue ;; esac
    target=$(sed -n 's/^\.target sm_\([0-9]*\).*/\1/p' "$file")
    [ "$target" -le "$sm" ] || continue
    printf '%s\n%s\n' "$file" "$out/sm_$sm/$(basename "$file" .ptx).log"
  done | xargs -n 2 -P 2 sh "$here/assemble.sh" "$ptxas" "$sm"
  "$embed" uses "$out/kernels_sm_$sm.tsv" "$spills" "$out/sm_$sm"/*.log
done
