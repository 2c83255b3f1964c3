#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_top_k() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("largest")
                     .in(f32, {3, 9})
                     .omit()
                     .dims("k", {4})
                     .set("axis", 1)
                     .set("largest", 1)
                     .set("sorted", 1)
                     .outputs(2));
  list.push_back(OpCase("smallest")
                     .in(f32, {9, 3})
                     .omit()
                     .dims("k", {2})
                     .set("axis", 0)
                     .set("largest", 0)
                     .set("sorted", 1)
                     .outputs(2));
  list.push_back(OpCase("ties")
                     .in(i64, {3, 9}, integers(0, 3))
                     .omit()
                     .dims("k", {5})
                     .set("axis", 1)
                     .set("largest", 1)
                     .set("sorted", 1)
                     .outputs(2));
  for (const DataType dtype : {f32, f64, f16, bf16, i8, u8, i16, i32, u32, i64, u64}) {
    for (const int largest : {0, 1}) {
      list.push_back(OpCase("edges, " + std::string(to_string(dtype)) +
                            (largest != 0 ? ", largest" : ", smallest"))
                         .in(dtype, {2, 10}, edge_bits())
                         .omit()
                         .dims("k", {6})
                         .set("axis", 1)
                         .set("largest", largest)
                         .set("sorted", 1)
                         .outputs(2));
    }
  }
  list.push_back(OpCase("none")
                     .in(f32, {2, 5})
                     .omit()
                     .dims("k", {0})
                     .set("axis", 1)
                     .set("largest", 1)
                     .set("sorted", 1)
                     .outputs(2));
  const auto of_the_run = [](const std::string& name, double k) {
    return OpCase(name)
        .in(f32, {3, 5})
        .in(i64, {1}, values({k}))
        .set("axis", 1)
        .set("largest", 1)
        .set("sorted", 1)
        .outputs(2);
  };
  list.push_back(of_the_run("k of the run", 3));
  list.push_back(of_the_run("k beyond", 6).refused("6"));
  list.push_back(of_the_run("k below", -1).refused("-1"));
  return list;
}

}  // namespace concord::ops_test
