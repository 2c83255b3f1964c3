#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_reduce() {
  using enum DataType;
  OpCases list;
  for (const char* fn :
       {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"}) {
    const std::string name(fn);
    const Fill fill = name == "log_sum" ? uniform(0.5, 2) : normal();
    const auto add = [&](const std::string& what, DataType dtype, Shape shape,
                         std::vector<std::int64_t> axes, int keepdims) {
      list.push_back(OpCase(name + " " + what)
                         .in(dtype, std::move(shape), fill)
                         .set("fn", fn)
                         .ints("axes", std::move(axes))
                         .set("keepdims", keepdims));
    };
    add("last", f32, {3, 65}, {1}, 1);
    add("first", f32, {33, 17}, {0}, 0);
    add("middle", f32, {3, 9, 5}, {1}, 1);
    add("outer two", f32, {3, 9, 5}, {0, 1}, 0);
    add("first and last", f32, {3, 9, 5}, {0, 2}, 1);
    add("all", f32, {3, 9, 5}, {0, 1, 2}, 0);
    add("none", f32, {3, 5}, {}, 1);
    add("f16", f16, {3, 65}, {1}, 1);
    add("f64", f64, {3, 65}, {1}, 1);
  }
  for (const char* fn : {"sum", "max", "min", "prod"}) {
    for (const DataType dtype : {i32, i64}) {
      list.push_back(OpCase(std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {3, 9, 5}, integers(-3, 3))
                         .set("fn", fn)
                         .ints("axes", {1})
                         .set("keepdims", 0));
    }
  }
  list.push_back(OpCase("max bool")
                     .in(boolean, {3, 9}, integers(0, 1))
                     .set("fn", "max")
                     .ints("axes", {1})
                     .set("keepdims", 0));
  list.push_back(OpCase("sum of nothing")
                     .in(f32, {3, 0})
                     .set("fn", "sum")
                     .ints("axes", {1})
                     .set("keepdims", 0));
  for (const char* fn :
       {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"}) {
    const auto edges = [&](const std::string& what, DataType dtype, Shape shape, Fill fill) {
      const auto last = static_cast<std::int64_t>(shape.size()) - 1;
      return OpCase("edges, " + std::string(fn) + " " + what)
          .in(dtype, std::move(shape), std::move(fill))
          .set("fn", fn)
          .ints("axes", {last})
          .set("keepdims", 0);
    };
    list.push_back(edges("one by one", f32, {13, 1}, specials()));
    list.push_back(edges("together", f32, {2, 40}, extremes()));
    list.push_back(edges("infinite", f32, {2, 3}, values({1, kInfinity, 2})));
    list.push_back(edges("negative", f32, {2, 3}, values({1, -kInfinity, 2})));
    list.push_back(edges("scalar", f32, {1}, values({3})));
    list.push_back(edges("nothing", f32, {3, 0}, normal()));
    for (const DataType dtype : {f16, bf16, f64}) {
      list.push_back(edges(std::string(to_string(dtype)), dtype, {13, 1}, specials()));
    }
  }
  for (const char* fn : {"sum", "max", "min", "prod"}) {
    for (const DataType dtype : {i32, i64, u32, u64}) {
      list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {3, 7}, edge_bits())
                         .set("fn", fn)
                         .ints("axes", {1})
                         .set("keepdims", 1));
    }
  }
  for (const char* fn : {"max", "min"}) {
    for (const DataType dtype : {i8, u8, i16, u16, boolean}) {
      list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {3, 7}, edge_bits())
                         .set("fn", fn)
                         .ints("axes", {1})
                         .set("keepdims", 1));
    }
  }
  return list;
}

}  // namespace concord::ops_test
