#!/usr/bin/env bash
# Checks Concord on a machine with an NVIDIA GPU: what the device reaches, every operator's cases,
# and all bundled models against the oracle, on CUDA and Vulkan. Leaves one JSON and one HTML file.
#
#   tools/gpu_check.sh [--dry-run] [OUT]   here: builds first (OUT defaults to gpu_check)
#   tools/gpu_check.sh prepare DIR         fills DIR with all that the check needs, 50 MB at most
#   DIR/gpu_check.sh [--dry-run] [OUT]     there: offline, nothing else needed but the driver
#
# --dry-run goes the same way with a few cases and models where there is no GPU: on the software
# driver that CONCORD_CUDA_DRIVER names, or that of tests/fake_cuda. It proves the script, no device.
#
# With the build it takes at most CONCORD_CHECK_SECONDS (470); what does not fit is left out and
# said. The exit code is 0 when everything that was run agreed, 1 when something did not, 5 when
# there is no GPU or CUDA did not start, 2 when it was called wrongly or could not be built.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { echo "[gpu_check] $*"; }
usage() { sed -n '5,7s/^# *//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

# --- Preparing ------------------------------------------------------------------------------------

# The program, the operators' cases and the backends. Without oneDNN, all but the CPU backend. From
# nothing it takes 11 minutes of CPU time, with files compiled together; the longest file takes half a
# minute, so that 16 cores need about one and a quarter.
build() {
  local root=$1 cpu=ON flags=
  shift
  [ -e "$root/build/release/CMakeCache.txt" ] ||
    flags="-DCONCORD_UNITY_LINES=3000 -DCONCORD_WERROR=OFF"
  # shellcheck disable=SC2144  # one match at most
  [ -e "$root"/.deps/onednn-*/lib/libdnnl.so ] || ldconfig -p 2>/dev/null | grep -q 'libdnnl\.so\.3' ||
    cpu=OFF
  [ $cpu = ON ] || say "oneDNN is not here: building without the CPU backend"
  CONCORD_CMAKE_FLAGS="-DCONCORD_CPU=$cpu $flags" "$root/tools/build.sh" release product ops_test "$@" || {
    say "the build failed; tools/setup.sh installs what it needs"
    exit 2
  }
}

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
  local root folder=$1 build file megabytes
  root=$(cd "$here/.." && pwd)
  build=$root/build/release
  build "$root"
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/lib"
  cp "$root/tools/gpu_check.sh" "$folder/"
  cp -R "$root/models" "$folder/models"
  cp "$build/concord" "$build/tests/ops_test" "$folder/bin/"
  cp -P "$build"/libconcord*.so* "$folder/lib/"
  for file in "$build/concord" "$build/tests/ops_test" "$build"/libconcord*.so; do
    copy_libraries "$file" "$folder/lib"
  done
  find "$folder/bin" "$folder/lib" -type f -exec strip --strip-unneeded {} +
  # oneDNN alone would nearly fill the folder.
  tar -C "$folder" -cf - bin lib | gzip -9 >"$folder/program.tar.gz"
  rm -r "${folder:?}/bin" "${folder:?}/lib"
  megabytes=$(du -sm --apparent-size "$folder" | cut -f1)
  say "$folder holds $megabytes MB"
  [ "$megabytes" -le 50 ] || { say "that is more than 50 MB"; exit 1; }
}

# --- What is asked --------------------------------------------------------------------------------

dry=false
if [ "${1:-}" = prepare ]; then
  [ $# -eq 2 ] || usage
  prepare "$2"
  exit
elif [ "${1:-}" = --dry-run ]; then
  dry=true
  shift
fi
case ${1:-} in -*) usage ;; esac
[ $# -le 1 ] || usage

# Before anything is built: a machine without a driver needs no build to say so.
has_driver() {
  [ -n "${CONCORD_CUDA_DRIVER:-}" ] || [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] ||
    ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' || nvidia-smi -L >/dev/null 2>&1
}
if ! $dry && ! has_driver; then
  say "no NVIDIA GPU here: there is neither a driver library (libcuda.so.1) nor /dev/nvidiactl" >&2
  exit 5
fi

# --- Checking -------------------------------------------------------------------------------------

began=$SECONDS
limit=${CONCORD_CHECK_SECONDS:-470}
left() { echo $((limit - SECONDS + began)); }

out=${1:-gpu_check}
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The software driver's devices have no matrix units unless told so.
$dry && export CONCORD_FAKE_CUDA=${CONCORD_FAKE_CUDA:-capability=80}
if [ -e "$here/program.tar.gz" ]; then
  root=$here
  tar -C "$scratch" -xzf "$here/program.tar.gz"
  concord=$scratch/bin/concord
  ops=$scratch/bin/ops_test
  export LD_LIBRARY_PATH=$scratch/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  root=$(cd "$here/.." && pwd)
  doubles=()
  if $dry && [ -z "${CONCORD_CUDA_DRIVER:-}" ]; then
    doubles=(fake_cuda fake_cublaslt)
    export CONCORD_CUDA_DRIVER=$root/build/release/tests/fake_cuda/libcuda.so.1
    export CONCORD_CUBLASLT=$root/build/release/tests/fake_cuda/libcublasLt.so.13
  fi
  build "$root" "${doubles[@]}"
  concord=$root/build/release/concord
  ops=$root/build/release/tests/ops_test
fi
built=$((SECONDS - began))

# What the program says of a backend's first device: "NVIDIA H200 (…)", or "not available: …". Where
# there are several, each has its number.
devices=$("$concord" devices 2>&1) || true
device_of() { sed -nE "s/^$1(:device=0)?: //p" <<<"$devices" | head -n 1; }
cuda=$(device_of cuda)
if [[ -z $cuda || $cuda == "not available"* ]]; then
  say "no NVIDIA GPU to check: CUDA: ${cuda:-not available: this build has no CUDA backend}" >&2
  exit 5
fi
say "$cuda"

worst=0
parts=()

# part NAME SECONDS FILE COMMAND…: runs it for so long at most; FILE is the JSON that it writes.
part() {
  local name=$1 seconds=$2 file=$3 status=0
  shift 3
  [ "$seconds" -le "$(left)" ] || seconds=$(left)
  if [ "$seconds" -lt 5 ]; then
    say "$name: no time left"
    worst=1
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

cases='*cuda*:*vulkan*'
models=("$root/models")
# In 16 bits, by cuBLASLt and by our kernels for matrix units, which devices have from 8.0 on.
halves=()
for name in bert__dynamo20 bert__dynamo20_fp16 gpt2_past__script17 llama_past__dynamo20_fp16 \
  mobilenet_s__dynamo20 vit__dynamo20 whisper_encoder__dynamo20; do
  halves+=("$root/models/$name")
done
half_specs=cuda:precision=f16,cuda:precision=f16,matmul=portable
[[ $cuda == *"capability 7."* ]] ||
  half_specs+=,cuda:precision=bf16,cuda:precision=bf16,matmul=portable
seconds=0.3
specs=cuda,cuda:matmul=portable,cuda:replay=off,vulkan
calibrate=(--calibrate)
# Their times too: cpu beside them, on the same machine.
[[ -n $(device_of cpu) && $(device_of cpu) != "not available"* ]] && specs=cpu,$specs
if $dry; then
  # No speed of the software driver is of any use.
  calibrate=()
  seconds=0
  cases='*cuda_matmul:*cuda_softmax:*cuda_attention:*vulkan_softmax'
  models=("$root/models/bert__dynamo20" "$root/models/vit__dynamo20")
  halves=("$root/models/bert__dynamo20_fp16")
fi
[[ -n $(device_of vulkan) && $(device_of vulkan) != "not available"* ]] || specs=${specs%,vulkan}

part devices 60 "$scratch/devices.json" \
  "$concord" devices "${calibrate[@]}" --json "$scratch/devices.json"
part operators 120 "$scratch/operators.json" \
  "$ops" --gtest_brief=1 "--gtest_filter=$cases" "--gtest_output=json:$scratch/operators.json"
part halves 90 "$scratch/halves.json" "$concord" parity "${halves[@]}" \
  --backends "$half_specs" --per-step --seconds $seconds --json "$scratch/halves.json"
part models 300 "$scratch/models.json" "$concord" parity "${models[@]}" \
  --backends "$specs" --per-step --seconds $seconds \
  --json "$scratch/models.json" --html "$out/gpu_check.html"

{
  printf '{"schema": 1, "dry_run": %s, "device": "%s", "build_seconds": %d, "seconds": %d' \
    $dry "${cuda//\"/\\\"}" "$built" $((SECONDS - began))
  printf ',\n%s' "${parts[@]}"
  printf '}\n'
} >"$out/gpu_check.json"
[ -s "$out/gpu_check.html" ] || {
  printf '<!doctype html><title>gpu_check</title><pre>'
  cat "$scratch"/*.txt | sed 's/&/\&amp;/g; s/</\&lt;/g'
  printf '</pre>\n'
} >"$out/gpu_check.html"
say "$((SECONDS - began)) s, $built of them to build; reports: $out/gpu_check.json $out/gpu_check.html"
exit $worst
