#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_split() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("last").in(f32, {3, 9}).set("axis", 1).dims("sizes", {2, 3, 4}).outputs(3));
  list.push_back(OpCase("first").in(f32, {6, 4}).set("axis", 0).dims("sizes", {3, 3}).outputs(2));
  list.push_back(OpCase("middle, one empty")
                     .in(f32, {2, 6, 4})
                     .set("axis", 1)
                     .dims("sizes", {6, 0})
                     .outputs(2));
  list.push_back(
      OpCase("i64").in(i64, {5}, integers(0, 9)).set("axis", 0).dims("sizes", {1, 4}).outputs(2));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {3, 7}, edge_bits())
                       .set("axis", 1)
                       .dims("sizes", {2, 5})
                       .outputs(2));
  }
  const auto of_the_run = [](const std::string& name, std::vector<double> sizes) {
    return OpCase(name)
        .in(f32, {3, 7})
        .in(i64, {2}, values(std::move(sizes)))
        .set("axis", 1)
        .outputs(2);
  };
  list.push_back(of_the_run("sizes of the run", {3, 4}));
  list.push_back(of_the_run("sizes beyond", {3, 5}).refused("[3, 5]"));
  return list;
}

}  // namespace concord::ops_test
