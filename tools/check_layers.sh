#!/usr/bin/env bash
# Checks that folders include only the layers below them, and that heavy headers stay where they
# belong. The build cannot: all layers share one include path.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
failures=0

# complain PATTERN FOLDER REASON [EXCEPT]: no file below FOLDER may have a line that fits PATTERN.
complain() {
  local hits
  [ -d "$2" ] || return 0
  hits=$(grep -rnE --include='*.h' --include='*.cpp' "$1" "$2" | grep -vE "${4:-^$}" || true)
  [ -z "$hits" ] && return 0
  echo "[layers] $3:" >&2
  echo "$hits" >&2
  failures=$((failures + 1))
}

complain '#include "(importer|backends|parity|tools)/' graph \
  "graph/ may use nothing else of ours" '"backends/build_id\.h"'
complain '#include "(backends|parity|tools)/' importer "importer/ may use only graph/"
complain '#include "(importer|parity|tools)/' backends "backends/ may use only graph/"
complain '#include "tools/' parity "parity/ may not use tools/"
complain '#include "backends/(cpu|gpu|vulkan|cuda)/' parity \
  "parity/ may use backends through their interface only"
for folder in graph backends parity tools; do
  complain '#include [<"](google/protobuf/|onnx-ml\.pb\.h|onnx/)' $folder \
    "only importer/ may see protobuf"
done
for folder in graph importer parity tools; do
  complain '#include <(dnnl|oneapi/dnnl|vulkan|volk|cuda|cublas|hwy)' $folder \
    "only backends/ may see a backend's headers"
done
complain '#include <(cuda|cublas|vulkan|volk)' backends/cpu "backends/cpu/ may not see GPU headers"
for folder in graph importer backends parity tools tests; do
  complain '#pragma omp' $folder "#pragma omp stands in the CPU kernels' parallel.cpp only" '^backends/cpu/kernels/parallel\.cpp:'
done

[ $failures -eq 0 ] || exit 1
echo "[layers] every folder uses only the layers below it"
