#include "graph/passes/simplify.h"

#include "graph/passes/list.h"

namespace concord::graph {

int simplify(Graph& graph, const PassOptions&) {
  int total = 0;
  // Rules look at producers, which come first: one sweep does nearly all.
  constexpr int sweeps = 6;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    int changed = 0;
    {
      Rewriter rw(graph);
      for (const NodeId id : rw.order()) {
        // A rule may apply to what another one left.
        for (int round = 0; round < 4 && !rw.node(id).removed; ++round) {
          const bool any = simplify_view(rw, id) || simplify_arithmetic(rw, id) ||
                           simplify_mask(rw, id) || simplify_matmul(rw, id) ||
                           simplify_transposed(rw, id) || simplify_branch(rw, id);
          if (!any) break;
          ++changed;
        }
      }
    }
    total += changed;
    if (changed == 0) break;
  }
  return total;
}

}  // namespace concord::graph
