#!/bin/sh
# assemble_all.sh PTXAS KERNEL_EMBED PTX_DIR SPILLS.txt OUT_DIR SM…: assembles every PTX file for
# every SM, and writes OUT_DIR/kernels_sm_SM.tsv. Fails where ptxas does, or where a kernel spills.
set -e
ptxas=$1 embed=$2 ptx=$3 spills=$4 out=$5
shift 5
here=$(dirname "$0")
mkdir -p "$out"
for sm in "$@"; do
  mkdir -p "$out/sm_$sm"
  for file in "$ptx"/*.ptx; do
    case $file in *.raw.ptx) continue ;; esac
    sh "$here/assemble.sh" "$ptxas" "$sm" "$file" "$out/sm_$sm/$(basename "$file" .ptx).log"
  done
  "$embed" uses "$out/kernels_sm_$sm.tsv" "$spills" "$out/sm_$sm"/*.log
done
