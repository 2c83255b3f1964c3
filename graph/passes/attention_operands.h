#pragma once

#include <string>
#include <vector>

#include "graph/passes/match.h"

namespace concord::graph {

// What an operand of an attention's products is made from, once transposes of heads and sequence,
// scalar factors and repeated key heads are taken away.
struct HeadOperand {
  ValueId source;
  std::string layout;  // letters of b, h, s, d in the order of the source's axes
  double factor = 1;
  Dim heads;
  std::vector<NodeId> absorbed;
};

// `letters`: what the axes of `id` are, "bhsd" or (of keys that were transposed) "bhds". `allowed`:
// layouts that the attention takes. `grouped`: whether repeated heads may be taken away.
HeadOperand head_operand(const Rewriter& rw, ValueId id, std::string letters,
                         const std::vector<std::string>& allowed, bool grouped);

// If the value is z with each of its heads (axis `axis`, rank 4) repeated some times in a row, as
// reshape(broadcast(reshape(z))): z and the nodes.
struct RepeatedHeads {
  ValueId source;
  std::vector<NodeId> absorbed;
};
std::optional<RepeatedHeads> repeated_heads(const Rewriter& rw, ValueId id, std::size_t axis);

// What stands between the first product and the softmax.
struct Scores {
  ValueId product;  // q·kᵀ
  double scale = 1;
  double softcap = 0;
  std::vector<ValueId> masks;  // added, or bool (true: may see)
  std::vector<NodeId> absorbed;
};
std::optional<Scores> read_scores(Rewriter& rw, ValueId softmax_input, const Node& origin,
                                  NodeId before);

}  // namespace concord::graph
