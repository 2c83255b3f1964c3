#include "graph/ops/convolution.h"

namespace concord::graph {

std::int64_t require_convolution(Inference& in) {
  in.require_rank_at_least(0, 3);
  in.require_rank_at_least(1, 3);
  if (in.rank(0)) in.require_rank(1, *in.rank(0));
  const std::int64_t group = in.attrs().integer("group");
  if (group < 1) mismatch("a positive group count", std::to_string(group));
  return group;
}

}  // namespace concord::graph
