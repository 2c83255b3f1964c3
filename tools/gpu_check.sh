#!/usr/bin/env bash
# Checks Concord on a machine with an NVIDIA GPU: what the device reaches, every operator's cases,
# and all bundled models against the oracle, on CUDA and Vulkan. Leaves one JSON and one HTML file.
#
#   tools/gpu_check.sh [OUT]            here: builds first (OUT defaults to gpu_check)
#   tools/gpu_check.sh prepare DIR      fills DIR with all that the check needs, 50 MB at most
#   DIR/gpu_check.sh [OUT]              there: offline, nothing else needed but the driver
#
# It takes at most CONCORD_CHECK_SECONDS (420); what does not fit is left out and said. The exit
# code is 0 when everything that was run agreed, 5 when CUDA did not start.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { echo "[gpu_check] $*"; }

# --- Preparing ------------------------------------------------------------------------------------

# Copies what `file` links to, but for the C library and what drivers bring.
copy_libraries() {
  ldd "$1" | sed -nE 's/^[^>]*=> (\/[^ ]+) .*/\1/p' |
    grep -vE '/(ld-linux[^/]*|libc|libm|libdl|libpthread|librt)\.so' |
    while read -r library; do
      case $library in */libconcord*) continue ;; esac
      cp -Lu "$library" "$2/"
    done
}

prepare() {
  local root folder=$1 build
  root=$(cd "$here/.." && pwd)
  build=$root/build/release
  "$root/tools/build.sh" release concord_program concord_cpu concord_cuda concord_vulkan ops_test
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/lib"
  cp "$root/tools/gpu_check.sh" "$folder/"
  cp -R "$root/models" "$folder/models"
  cp "$build/concord" "$build/tests/ops_test" "$folder/bin/"
  cp -P "$build"/libconcord*.so* "$folder/lib/"
  local file
  for file in "$folder"/bin/* "$folder"/lib/libconcord*.so; do
    copy_libraries "$build/$(basename "$file" | sed 's/^ops_test$/tests\/ops_test/')" \
      "$folder/lib"
  done
  find "$folder/bin" "$folder/lib" -type f -exec strip --strip-unneeded {} +
  local megabytes
  megabytes=$(du -sm "$folder" | cut -f1)
  say "$folder holds $megabytes MB"
  [ "$megabytes" -le 50 ] || { say "that is more than 50 MB"; exit 1; }
}

if [ "${1:-}" = prepare ]; then
  [ $# -eq 2 ] || { echo "usage: tools/gpu_check.sh prepare DIR" >&2; exit 2; }
  prepare "$2"
  exit
fi

# --- Checking -------------------------------------------------------------------------------------

began=$SECONDS
limit=${CONCORD_CHECK_SECONDS:-420}
left() { echo $((limit - SECONDS + began)); }

out=${1:-gpu_check}
mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ -x "$here/bin/concord" ]; then
  root=$here
  concord=$here/bin/concord
  ops=$here/bin/ops_test
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  root=$(cd "$here/.." && pwd)
  "$root/tools/build.sh" release concord_program concord_cpu concord_cuda concord_vulkan ops_test
  concord=$root/build/release/concord
  ops=$root/build/release/tests/ops_test
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

worst=0
parts=()

# part NAME SECONDS FILE COMMAND…: runs it for so long at most; FILE is the JSON that it writes.
part() {
  local name=$1 seconds=$2 file=$3 status=0
  shift 3
  [ "$seconds" -le "$(left)" ] || seconds=$(left)
  if [ "$seconds" -lt 5 ]; then
    say "$name: no time left"
    parts+=("\"$name\": {\"left_out\": true}")
    return
  fi
  local start=$SECONDS
  timeout --kill-after=5 "$seconds" "$@" >"$scratch/$name.txt" 2>&1 || status=$?
  [ "$status" -eq 0 ] || worst=1
  say "$name: exit code $status after $((SECONDS - start)) s"
  tail -n 3 "$scratch/$name.txt" | sed 's/^/    /'
  local result=null
  [ ! -s "$file" ] || result=$(cat "$file")
  parts+=("\"$name\": {\"exit_code\": $status, \"seconds\": $((SECONDS - start)), \"result\": $result}")
}

part devices 60 "$scratch/devices.json" "$concord" devices --calibrate --json "$scratch/devices.json"
part operators 120 "$scratch/operators.json" \
  "$ops" --gtest_brief=1 "--gtest_filter=*cuda*:*vulkan*" "--gtest_output=json:$scratch/operators.json"
# Their times too: cpu beside them, on the same machine.
part models 300 "$scratch/models.json" "$concord" parity "$root/models" \
  --backends cpu,cuda,cuda:matmul=portable,cuda:replay=off,vulkan --per-step --seconds 0.3 \
  --json "$scratch/models.json" --html "$out/gpu_check.html"

{
  printf '{"schema": 1, "seconds": %d' $((SECONDS - began))
  printf ',\n%s' "${parts[@]}"
  printf '}\n'
} >"$out/gpu_check.json"
[ -s "$out/gpu_check.html" ] || {
  printf '<!doctype html><title>gpu_check</title><pre>'
  sed 's/&/\&amp;/g; s/</\&lt;/g' "$scratch"/*.txt
  printf '</pre>\n'
} >"$out/gpu_check.html"
say "$((SECONDS - began)) s; reports: $out/gpu_check.json $out/gpu_check.html"
if "$concord" devices 2>/dev/null | grep -q '^cuda: not available'; then
  "$concord" devices 2>/dev/null | grep '^cuda:' >&2
  exit 5
fi
exit $worst
