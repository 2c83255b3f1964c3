#pragma once

#include "graph/extent_rules.h"

namespace concord::graph {

// Collects what one node asks of its operands' extents. Its members are defined by subject, in
// extent_rules_*.cpp.
class ExtentCollector {
 public:
  ExtentCollector(const Node& node, const ShapeOf& shape) : node_(node), shape_(shape) {}

  std::vector<ExtentRule> collect();

 private:
  using Kind = ExtentRule::Kind;

  void add(Kind kind, const Dim& a, const Dim& b, std::string what);
  // The input's shape if it is known; its rank must be `rank`.
  const SymShape* ranked(std::size_t i, std::size_t rank) const;
  // Axes aligned at the end; `skip` trailing axes are left out.
  void aligned(const SymShape* a, const SymShape* b, Kind kind, std::size_t skip = 0);
  void broadcast_all();
  // Input i broadcasts to the shape of input 0.
  void fits_first(std::size_t i);
  void same_shape(std::size_t i, std::size_t j, const char* what);
  void channels(std::size_t i);

  // extent_rules_products.cpp
  void conv();
  void conv_transpose();
  void matmul();
  void einsum();

  // extent_rules_moves.cpp
  void concat();
  // Indices reach into the data element by element: no axis of them but the one is longer.
  void elements();
  void scatter_elements();
  void gather_nd();
  void scatter_nd();
  void reverse_sequence();
  void split();
  void top_k();

  // extent_rules_states.cpp
  struct Heads {
    Dim batch, heads, seq, depth;
  };
  void recurrent(std::int64_t gates);
  // Tables [B|1, S, width], or [rows, width] that positions [B|1, S] pick from.
  void rotary();
  Heads heads(const SymShape& shape, const char* layout_name) const;
  void attention();

  const Node& node_;
  const ShapeOf& shape_;
  std::vector<ExtentRule> rules_;
};

}  // namespace concord::graph
