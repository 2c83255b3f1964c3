#include "graph/passes.h"

#include "graph/error.h"

namespace concord::graph {

std::span<const Pass> passes() {
  return {};
}

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
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    if (!graph.value(id).equals) graph.value(id).equals = Equivalence{id, {}, false};
  }
  for (const Pass& pass : passes()) {
    if (pass.fusion && !options.fusion) continue;
    if (options.disabled.contains(std::string(pass.name))) continue;
    pass.run(graph, options);
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
