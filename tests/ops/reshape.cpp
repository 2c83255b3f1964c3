#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_reshape() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("merge").in(f32, {2, 3, 5}).dims("shape", {6, 5}).set("allow_zero", 0));
  list.push_back(OpCase("split").in(f32, {2, 12}).dims("shape", {2, 3, 4}).set("allow_zero", 0));
  list.push_back(
      OpCase("scalar").in(i64, {1}, integers(0, 9)).dims("shape", {}).set("allow_zero", 0));
  list.push_back(OpCase("empty").in(f32, {0, 3}).dims("shape", {3, 0}).set("allow_zero", 1));
  list.push_back(
      OpCase("bool").in(boolean, {4, 3}, integers(0, 1)).dims("shape", {12}).set("allow_zero", 0));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {3, 7}, edge_bits())
                       .dims("shape", {7, 3})
                       .set("allow_zero", 0));
  }
  const auto of_the_run = [](const std::string& name, const std::vector<double>& shape) {
    return OpCase(name)
        .in(f32, {2, 6})
        .in(i64, {static_cast<std::int64_t>(shape.size())}, values(shape))
        .set("allow_zero", 0);
  };
  list.push_back(of_the_run("shape of the run", {3, -1}));
  list.push_back(of_the_run("too many elements", {3, 5}).refused("[2, 6]"));
  list.push_back(of_the_run("not to be divided", {5, -1}).refused("[2, 6]"));
  return list;
}

}  // namespace concord::ops_test
