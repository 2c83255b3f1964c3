#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_constant_of() {
  using enum DataType;
  OpCases list;
  const auto value = [](float v) { return Tensor::of<float>({1}, std::span<const float>(&v, 1)); };
  list.push_back(OpCase("f32").dims("shape", {3, 5}).set("value", value(2.5f)));
  list.push_back(OpCase("empty").dims("shape", {3, 0}).set("value", value(2.5f)));
  list.push_back(OpCase("scalar").dims("shape", {}).set("value", value(-1.0f)));
  list.push_back(OpCase("i64")
                     .dims("shape", {7})
                     .set("value", Tensor::from_ints(std::vector<std::int64_t>{9})));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .dims("shape", {3, 5})
                       .set("value", make_tensor({dtype, {1}, integers(1, 1)}, 1)));
  }
  return list;
}

}  // namespace concord::ops_test
