#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/importer/onnx_model.h"

namespace concord::importer {

// A node at an opset, and the core operators that it becomes, as nodes_of writes them.
struct HistoryCase {
  std::string name;
  std::int64_t opset;
  std::function<void(OnnxModel&)> build;
  std::string expected;
};

inline void PrintTo(const HistoryCase& c, std::ostream* out) {
  *out << c.name;
}

inline Tensor ints(const std::vector<std::int64_t>& values) {
  return Tensor::from_ints(values);
}

inline OnnxModel& x34(OnnxModel& m) {
  m.input("x", DataType::f32, {"b", std::int64_t{3}, std::int64_t{4}}).output("y");
  return m;
}
inline OnnxModel& image(OnnxModel& m) {
  m.input("x", DataType::f32, {"b", std::int64_t{4}, std::int64_t{6}, std::int64_t{8}}).output("y");
  return m;
}

inline void expect_becomes(const HistoryCase& c) {
  // Attributes that tell nothing in these cases.
  const std::vector<std::string> hidden = {
      "allow_zero", "alpha",         "beta",      "nan_to_zero",     "trans_a",     "trans_b",
      "cubic_a",    "extrapolation", "antialias", "exclude_outside", "keep_aspect", "storage_order",
      "p",          "dilations",     "saturate"};
  OnnxModel model(c.opset);
  c.build(model);
  EXPECT_EQ(nodes_of(*import(model).graph, hidden), c.expected);
}

}  // namespace concord::importer
