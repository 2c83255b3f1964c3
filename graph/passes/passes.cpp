#include "graph/passes.h"

#include "graph/error.h"
#include "graph/passes/list.h"

namespace concord::graph {

std::span<const Pass> passes() {
  static constexpr Pass table[] = {
      {"inline_captures", "gives bodies of control flow the constants that they capture", false,
       inline_captures},
      {"fold_shapes", "evaluates shape arithmetic, as far as it does not depend on a run", false,
       fold_shapes},
      {"fold_constants", "computes what depends on constants only, within a budget", false,
       fold_constants},
      {"simplify", "removes operators that change nothing and joins views", false, simplify},
      {"remove_duplicates", "computes equal things once", false, remove_duplicates},
      {"remove_dead", "removes what no output needs", false, remove_dead},
      {"fuse_gelu", "GELU in its erf and tanh spellings", true, fuse_gelu},
      {"fuse_swish", "SiLU, quick GELU, hard swish and Mish", true, fuse_swish},
      {"fuse_norm", "layer and RMS normalisation from their parts", true, fuse_norm},
      {"fuse_rotary", "rotary position embedding", true, fuse_rotary},
      {"fuse_attention", "scaled dot-product attention with masks, grouped heads and layouts", true,
       fuse_attention},
      {"fuse_residual_norm", "residual addition into the normalisation behind it", true,
       fuse_residual_norm},
      {"fuse_matmul_nbits", "products with weights of 4 bits that are dequantised by block", true,
       fuse_matmul_nbits},
      {"fuse_quantised", "products and convolutions of dequantised operands as those of integers",
       true, fuse_quantised},
      {"fuse_matmul", "transposes, scale, bias, activation and residual into products", true,
       fuse_matmul},
      {"fuse_matmul_integer", "scale, bias, activation and residual into products of integers",
       true, fuse_matmul_integer},
      {"fuse_conv", "scale, bias and activation into convolutions", true, fuse_conv},
      {"fuse_requantised", "rounding to integers and back as arithmetic of floats", true,
       fuse_requantised},
      {"fuse_elementwise", "chains of elementwise operators into one pass over memory", true,
       fuse_elementwise},
  };
  return table;
}

namespace {

int run_everywhere(const Pass& pass, Graph& graph, const PassOptions& options) {
  int changes = pass.run(graph, options);
  for (const NodeId id : std::vector<NodeId>(graph.order())) {
    for (Graph& body : graph.node(id).bodies) changes += run_everywhere(pass, body, options);
  }
  return changes;
}

// Every value equals itself until a pass says otherwise.
void begin_provenance(Graph& graph) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    if (!graph.value(id).equals) graph.value(id).equals = Equivalence{id, {}, false};
  }
  for (const NodeId id : graph.order()) {
    for (Graph& body : graph.node(id).bodies) begin_provenance(body);
  }
}

}  // namespace

Graph optimise(const Graph& imported, const PassOptions& options) {
  for (const std::string& name : options.disabled) {
    bool exists = false;
    std::string known;
    for (const Pass& pass : passes()) {
      exists = exists || pass.name == name;
      known += (known.empty() ? "" : ", ") + std::string(pass.name);
    }
    if (!exists)
      throw Error(ErrorKind::usage, "there is no pass '" + name + "'", "passes: " + known);
  }
  Graph graph = imported;
  begin_provenance(graph);
  for (const Pass& pass : passes()) {
    if (pass.fusion && !options.fusion) continue;
    if (options.disabled.contains(std::string(pass.name))) continue;
    run_everywhere(pass, graph, options);
#ifndef NDEBUG
    try {
      verify(graph);
    } catch (const Error& e) {
      throw e.with_context("after pass " + std::string(pass.name));
    }
#endif
  }
  return graph;
}

}  // namespace concord::graph
