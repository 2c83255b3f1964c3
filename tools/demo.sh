#!/usr/bin/env bash
# From a bare machine to a parity report: installs what is missing, builds Concord, compares a
# trained sentence encoder on every backend that starts here, then the small bundled models, and
# names the HTML reports. The second time it only compares.
#
#   tools/demo.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
say() { echo "[demo] $*"; }

tools/setup.sh --demo
tools/build.sh release product
concord=$root/build/release/concord

# The model in ONNX's test layout: the fetched file, and this repository's sentences beside it.
demo=$root/build/demo
model=$demo/paraphrase-MiniLM-L3-v2
mkdir -p "$model"
ln -sfn "$root"/.deps/minilm-0.2.1/model.onnx "$model/model.onnx"
for set in "$root"/models/minilm_sentences/test_data_set_*; do
  ln -sfn "$set" "$model/$(basename "$set")"
done

say "backends and devices here:"
"$concord" devices

# A divergence does not end the demo: the reports are what it is for. The exit code tells of it.
worst=0
compare() {
  local status=0
  "$concord" parity "$@" || status=$?
  [ "$status" -le "$worst" ] || worst=$status
}

say "comparing paraphrase-MiniLM-L3-v2 on real sentences, on every backend"
cd "$demo" # so that reports name the model, not where it lies
compare "$(basename "$model")" --per-step --html report.html --json report.json
cd "$root"

say "comparing the bundled models: encoder, decoders with KV caches, vision, CNN, recurrent"
compare --seconds 0.2 models/bert__dynamo20 models/llama_past__dynamo20 models/gpt2_past__script17 \
  models/t5_decoder__dynamo20 models/vit__dynamo20 models/mobilenet_s__dynamo20 \
  models/silero_vad_16k --html "$demo/bundled.html"

echo
say "report on MiniLM:             $demo/report.html"
say "report on the bundled models: $demo/bundled.html"
exit "$worst"
