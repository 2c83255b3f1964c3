#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parity/report.h"
#include "parity/worker.h"

// A decoder's steps: what it wrote as present goes back in as past, every participant with its own
// caches, all with the tokens that the oracle chose.
namespace concord::parity {

// Which inputs and outputs of a model make it a decoder; indices into the graph's.
struct DecoderLayout {
  std::size_t tokens = 0;
  std::size_t logits = 0;
  std::vector<std::pair<std::size_t, std::size_t>> caches;  // input, output
  std::vector<std::size_t> masks;                           // grow by a column of ones
  std::vector<std::size_t> positions;                       // the last one and one more
  std::vector<std::size_t> switches;  // bool inputs that say that there is a past
};
// Throws Error(usage) that says what is missing.
DecoderLayout decoder_layout(const graph::Graph& graph);

// Inputs of the next step: `tokens` by row of the batch, caches from the last step's outputs.
std::vector<Tensor> next_inputs(const DecoderLayout& layout, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs,
                                const std::vector<std::int64_t>& tokens);

// The oracle's own way: logits of the last position, [batch, vocabulary] in float64, and the tokens
// that are chosen from them.
struct DecodedStep {
  Tensor logits;
  std::vector<std::int64_t> tokens;
};
std::vector<DecodedStep> decode_oracle(const graph::Graph& imported, const DecoderLayout& layout,
                                       const std::vector<Tensor>& inputs, int steps,
                                       const std::function<void(double)>& progress = {});
// A participant's, compared with it.
DecodeReport decode_worker(const DecoderLayout& layout, const std::vector<Tensor>& inputs,
                           const std::vector<DecodedStep>& wanted, Worker& worker);

}  // namespace concord::parity
