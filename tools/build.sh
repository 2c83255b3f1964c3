#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json into build/<preset>.
#
#   tools/build.sh PRESET [TARGET…]      (default: everything)
#
# CONCORD_JOBS sets the number of compilations at once (default: one per core), CONCORD_CMAKE_FLAGS
# what cmake is given beside the preset.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -ge 1 ] || { echo "usage: tools/build.sh PRESET [TARGET...]" >&2; exit 2; }
preset=$1
shift
cd "$root"

# Builds of several presets, and of several copies of this tree, then share what they compiled.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "[build] configuring build/$preset"
# shellcheck disable=SC2086  # several flags
if ! cmake --preset "$preset" ${CONCORD_CMAKE_FLAGS:-} >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
sed -n 's/^-- \(Concord .*\|  .*\)/[build]   \1/p' "$log"

echo "[build] building build/$preset${*:+ ($*)}"
# Without a terminal to redraw, only what a failing step says is worth its lines.
quiet=()
[ -t 1 ] || quiet=(--quiet)
ninja -C "build/$preset" -j "${CONCORD_JOBS:-$(nproc)}" "${quiet[@]}" "$@"
