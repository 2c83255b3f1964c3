#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/reference/evaluate_graph.h"
#include "graph/passes.h"

namespace concord::graph {

inline PassOptions folding() {
  PassOptions options;
  options.evaluator = reference::fold;
  return options;
}

// Kinds of the live nodes, bodies included: "matmul", "unary:tanh", …
inline void count_ops(const Graph& graph, std::map<std::string, int>& counts) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::string kind(to_string(node.op));
    if (node.op == OpKind::unary || node.op == OpKind::binary) kind += ":" + node.attrs.text("fn");
    ++counts[kind];
    for (const Graph& body : node.bodies) count_ops(body, counts);
  }
}

inline std::map<std::string, int> count_ops(const Graph& graph) {
  std::map<std::string, int> counts;
  count_ops(graph, counts);
  return counts;
}

inline int count(const Graph& graph, const std::string& kind) {
  const auto counts = count_ops(graph);
  const auto it = counts.find(kind);
  return it == counts.end() ? 0 : it->second;
}

// Both graphs give the same in float64, up to what float32 constants leave. Outputs are compared
// with their own largest element.
inline void expect_same(const Graph& a, const Graph& b, const std::vector<Tensor>& inputs,
                        double tolerance = 2e-6) {
  const auto x = reference::evaluate_graph(a, inputs, {});
  const auto y = reference::evaluate_graph(b, inputs, {});
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t o = 0; o < x.size(); ++o) {
    const std::string& name = a.value(a.outputs[o]).name;
    ASSERT_EQ(b.value(b.outputs[o]).name, name);
    ASSERT_EQ(x[o].value.shape(), y[o].value.shape()) << name;
    ASSERT_EQ(x[o].declared, y[o].declared) << name;
    double largest = 0;
    for (std::int64_t i = 0; i < x[o].value.count(); ++i) {
      const double v = std::abs(x[o].value.at_double(i));
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    int reported = 0;
    for (std::int64_t i = 0; i < x[o].value.count() && reported < 3; ++i) {
      const double u = x[o].value.at_double(i);
      const double v = y[o].value.at_double(i);
      const bool same =
          u == v || (std::isnan(u) && std::isnan(v)) || std::abs(u - v) <= tolerance * largest;
      EXPECT_TRUE(same) << name << "[" << i << "]: " << u << " and " << v;
      if (!same) ++reported;
    }
  }
}

}  // namespace concord::graph
