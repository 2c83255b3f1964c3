#!/bin/sh
# assemble.sh PTXAS SM FILE.ptx LOG: assembles FILE.ptx for sm_SM; LOG is what ptxas says of it.
"$1" -v "-arch=sm_$2" "$3" -o "$4.cubin" >"$4" 2>&1 || {
  cat "$4"
  exit 1
}
rm -f "$4.cubin"
