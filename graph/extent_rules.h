#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace concord::graph {

// One thing that an operator asks of the extents of its operands, whoever computes it.
struct ExtentRule {
  enum class Kind {
    equal,      // a = b
    broadcast,  // a = b, or either is 1
    fits,       // a = b, or a is 1
    at_most     // a ≤ b
  };
  Kind kind = Kind::equal;
  Dim a;
  Dim b;
  std::string what;  // "the rows of w and gates × hidden_size"

  // Whether two numbers keep the rule.
  bool holds(std::int64_t x, std::int64_t y) const;
};

// The shape of input i; null if it is omitted or its rank is not known.
using ShapeOf = std::function<const SymShape*(std::size_t i)>;

// All rules of a node. Throws Error(invalid) for ranks that do not fit: those of a node that a
// backend is given are known.
std::vector<ExtentRule> extent_rules(const Node& node, const ShapeOf& shape);

// Throws Error(invalid) naming the first rule that two numbers break.
void check_extents(const Node& node, const ShapeOf& shape);
// The same for operands that are there; undefined where omitted.
void check_extents(const Node& node, std::span<const Tensor> inputs);

}  // namespace concord::graph
