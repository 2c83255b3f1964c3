#!/bin/bash
# Writes docs/operators.md again, or with --check compares it with what it should be.
# usage: tools/update_operators.sh [--check] [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
action=--output
if [ "${1:-}" = --check ]; then
  action=--check
  shift
fi
program=${1:-build/release/concord}
data=$(echo .deps/onnx-*/onnx/backend/test/data)
"$program" operators "$data"/{node,simple,pytorch-converted,pytorch-operator} \
  --backends reference,cpu,vulkan "$action" docs/operators.md
