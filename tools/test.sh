#!/usr/bin/env bash
# Sets up, builds Release and runs all tests through ctest.
#
#   tools/test.sh [--all] [CTEST ARGUMENT…]
#     --all   also the tests labelled "long", and every test again in the debug build
#
# For instance: tools/test.sh -R parity
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
presets=(release)
filter=(--label-exclude '^long$')
if [ "${1:-}" = --all ]; then
  presets=(debug release)
  filter=()
  shift
fi

# Threads that wait for work must not take the cores from other tests.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

tools/setup.sh
for preset in "${presets[@]}"; do
  tools/build.sh "$preset"
  echo "[test] running the tests of build/$preset"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel "${CONCORD_JOBS:-$(nproc)}" "${filter[@]}" "$@"
done
