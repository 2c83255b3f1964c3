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

// Whether b is a, up to `tolerance` of a's largest element; containers item by item.
inline ::testing::AssertionResult close(const Tensor& a, const Tensor& b, double tolerance) {
  if (a.defined() != b.defined()) return ::testing::AssertionFailure() << "one is missing";
  if (!a.defined()) return ::testing::AssertionSuccess();
  if (a.shape() != b.shape()) {
    return ::testing::AssertionFailure()
           << concord::to_string(a.shape()) << " and " << concord::to_string(b.shape());
  }
  if (a.dtype() == DataType::string) {
    return identical(a, b) ? ::testing::AssertionSuccess()
                           : ::testing::AssertionFailure() << "strings differ";
  }
  if (is_container(a.dtype()) || is_container(b.dtype())) {
    if (a.dtype() != b.dtype()) {
      return ::testing::AssertionFailure()
             << concord::to_string(a.dtype()) << " and " << concord::to_string(b.dtype());
    }
    for (std::size_t i = 0; i < a.items().size(); ++i) {
      auto same = close(a.items()[i], b.items()[i], tolerance);
      if (!same) return same << " in item " << i;
    }
    return ::testing::AssertionSuccess();
  }
  double largest = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double v = std::abs(a.at_double(i));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double u = a.at_double(i);
    const double v = b.at_double(i);
    const bool same =
        u == v || (std::isnan(u) && std::isnan(v)) || std::abs(u - v) <= tolerance * largest;
    if (!same) return ::testing::AssertionFailure() << "[" << i << "]: " << u << " and " << v;
  }
  return ::testing::AssertionSuccess();
}

// transpose(t, perm) with elements as float64.
inline Tensor transposed(const Tensor& t, const std::vector<std::int64_t>& perm) {
  Shape shape;
  for (const std::int64_t p : perm) shape.push_back(t.shape()[static_cast<std::size_t>(p)]);
  const Shape strides = contiguous_strides(t.shape());
  std::vector<double> elements(static_cast<std::size_t>(t.count()));
  Shape index(perm.size(), 0);
  for (double& e : elements) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < perm.size(); ++k) {
      at += index[k] * strides[static_cast<std::size_t>(perm[k])];
    }
    e = t.at_double(at);
    for (std::size_t k = perm.size(); k-- > 0;) {
      if (++index[k] < shape[k]) break;
      index[k] = 0;
    }
  }
  return Tensor::of<double>(shape, elements);
}

// The optimised graph gives what the imported one does, in float64 and up to what float32 constants
// leave; and so does each of its values that is said to equal an imported one.
inline void expect_same(const Graph& imported, const Graph& optimised,
                        const std::vector<Tensor>& inputs, double tolerance = 2e-6) {
  std::map<ValueId, Tensor> known;
  reference::GraphOptions keep;
  keep.on_value = [&](ValueId id, const reference::OracleValue& v) { known[id] = v.value; };
  const auto x = reference::evaluate_graph(imported, inputs, {}, keep);
  reference::GraphOptions check;
  check.on_value = [&](ValueId id, const reference::OracleValue& v) {
    const auto& equals = optimised.value(id).equals;
    if (!equals) return;
    const auto it = known.find(equals->imported);
    if (it == known.end()) return;
    Tensor expected = equals->perm.empty() ? it->second : transposed(it->second, equals->perm);
    if (equals->reshaped) expected = expected.reshaped(v.value.shape());
    EXPECT_TRUE(close(expected, v.value, 50 * tolerance))
        << "%" << id.index << " '" << optimised.value(id).name << "' equals '"
        << imported.value(equals->imported).name << "'";
  };
  const auto y = reference::evaluate_graph(optimised, inputs, {}, check);
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t o = 0; o < x.size(); ++o) {
    const std::string& name = imported.value(imported.outputs[o]).name;
    ASSERT_EQ(optimised.value(optimised.outputs[o]).name, name);
    ASSERT_EQ(x[o].declared, y[o].declared) << name;
    EXPECT_TRUE(close(x[o].value, y[o].value, tolerance)) << name;
  }
}

}  // namespace concord::graph
