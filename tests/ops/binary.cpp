#include <cmath>

#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_binary() {
  using enum DataType;
  OpCases list;
  for (const char* fn : {"add", "sub", "mul", "div", "max", "min"}) {
    const std::string name(fn);
    list.push_back(OpCase(name).in(f32, {3, 17}).in(f32, {3, 17}).set("fn", fn));
    list.push_back(OpCase(name + " rows").in(f32, {2, 3, 17}).in(f32, {17}).set("fn", fn));
    list.push_back(OpCase(name + " both").in(f32, {4, 1, 5}).in(f32, {3, 1}).set("fn", fn));
    list.push_back(OpCase(name + " scalar").in(f32, {}).in(f32, {33}).set("fn", fn));
    list.push_back(OpCase(name + " f16").in(f16, {5, 7}).in(f16, {5, 7}).set("fn", fn));
    list.push_back(OpCase(name + " bf16").in(bf16, {5, 7}).in(bf16, {1, 7}).set("fn", fn));
    list.push_back(OpCase(name + " f64").in(f64, {5, 7}).in(f64, {5, 7}).set("fn", fn));
    for (const DataType dtype : {i32, i64, i8, i16}) {
      list.push_back(OpCase(name + " " + std::string(to_string(dtype)))
                         .in(dtype, {4, 9}, integers(-9, 9))
                         .in(dtype, {9}, integers(1, 9))
                         .set("fn", fn));
    }
    for (const DataType dtype : {u8, u16, u32, u64}) {
      list.push_back(OpCase(name + " " + std::string(to_string(dtype)))
                         .in(dtype, {4, 9}, integers(10, 90))
                         .in(dtype, {9}, integers(1, 9))
                         .set("fn", fn));
    }
    list.push_back(OpCase(name + " empty").in(f32, {0, 4}).in(f32, {4}).set("fn", fn));
  }
  for (const char* fn : {"equal", "greater", "greater_equal", "less", "less_equal"}) {
    const std::string name(fn);
    for (const DataType dtype : {f32, f16, f64, i32, i64, u8}) {
      list.push_back(OpCase(name + " " + std::string(to_string(dtype)))
                         .in(dtype, {4, 9}, integers(0, 3))
                         .in(dtype, {4, 1}, integers(0, 3))
                         .set("fn", fn));
    }
  }
  list.push_back(OpCase("equal bool")
                     .in(boolean, {4, 9}, integers(0, 1))
                     .in(boolean, {9}, integers(0, 1))
                     .set("fn", "equal"));
  for (const char* fn : {"logical_and", "logical_or", "logical_xor"}) {
    list.push_back(OpCase(fn)
                       .in(boolean, {4, 9}, integers(0, 1))
                       .in(boolean, {9}, integers(0, 1))
                       .set("fn", fn));
  }
  for (const char* fn : {"bit_and", "bit_or", "bit_xor"}) {
    for (const DataType dtype : {i32, u8, i64}) {
      list.push_back(OpCase(std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {4, 9}, integers(0, 99))
                         .in(dtype, {9}, integers(0, 99))
                         .set("fn", fn));
    }
  }
  for (const char* fn : {"shift_left", "shift_right"}) {
    list.push_back(
        OpCase(fn).in(u8, {4, 9}, integers(0, 255)).in(u8, {9}, integers(0, 7)).set("fn", fn));
  }
  for (const DataType dtype : {i32, i64, i8, u8}) {
    list.push_back(OpCase("mod " + std::string(to_string(dtype)))
                       .in(dtype, {4, 9}, integers(dtype == u8 ? 0 : -20, 20))
                       .in(dtype, {9}, values({3, 5, 7}))
                       .set("fn", "mod"));
  }
  list.push_back(OpCase("mod by a negative")
                     .in(i32, {4, 9}, integers(-20, 20))
                     .in(i32, {9}, values({3, -5, -7}))
                     .set("fn", "mod"));
  list.push_back(OpCase("fmod").in(f32, {4, 9}, normal(0, 9)).in(f32, {9}).set("fn", "fmod"));
  list.push_back(OpCase("fmod i32")
                     .in(i32, {4, 9}, integers(-20, 20))
                     .in(i32, {9}, values({3, -5, -7}))
                     .set("fn", "fmod"));
  list.push_back(OpCase("pow").in(f32, {4, 9}, uniform(0.1, 9)).in(f32, {9}).set("fn", "pow"));
  list.push_back(OpCase("pow of negatives")
                     .in(f32, {4, 8})
                     .in(f32, {8}, values({0, 1, 2, 3, -1, -2, 0.5, 4}))
                     .set("fn", "pow"));
  list.push_back(OpCase("pow to i64").in(f32, {4, 9}).in(i64, {}, values({3})).set("fn", "pow"));
  list.push_back(OpCase("prelu").in(f32, {2, 3, 5}).in(f32, {3, 1}).set("fn", "prelu"));
  list.push_back(OpCase("max with nan")
                     .in(f32, {8}, values({1, 2, std::nan(""), 4}))
                     .in(f32, {8}, values({0, std::nan(""), 1, 9}))
                     .set("fn", "max"));
  for (const char* fn : {"add", "sub", "mul", "div", "max", "min", "equal", "greater",
                         "greater_equal", "less", "less_equal", "pow", "fmod", "prelu"}) {
    const std::string name = "edges, " + std::string(fn);
    for (const DataType dtype : {f32, f16, bf16, f64}) {
      list.push_back(OpCase(name + " " + std::string(to_string(dtype)))
                         .in(dtype, {13, 1}, extremes())
                         .in(dtype, {13}, extremes())
                         .set("fn", fn));
    }
  }
  for (const char* fn :
       {"add", "sub", "mul", "max", "min", "equal", "less", "bit_and", "bit_xor"}) {
    for (const DataType dtype : {i8, i16, i32, i64, u8, u16, u32, u64}) {
      list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {7, 1}, edge_bits())
                         .in(dtype, {7}, edge_bits())
                         .set("fn", fn));
    }
  }
  for (const char* fn : {"div", "mod", "fmod"}) {
    for (const DataType dtype : {i8, i16, i32, i64, u8, u16, u32, u64}) {
      list.push_back(
          OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
              .in(dtype, {7, 1}, edge_bits())
              .in(dtype, {3}, is_signed_integer(dtype) ? values({1, -1, 7}) : values({1, 2, 7}))
              .set("fn", fn));
    }
  }
  for (const DataType dtype : {u8, u16, u32, u64}) {
    for (const char* fn : {"shift_left", "shift_right"}) {
      list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {7, 1}, edge_bits())
                         .in(dtype, {3}, values({0, 1, static_cast<double>(bits(dtype) - 1)}))
                         .set("fn", fn));
    }
  }
  list.push_back(OpCase("scalars").in(f32, {}).in(f32, {}).set("fn", "add"));
  for (const char* fn : {"div", "mod"}) {
    for (const DataType dtype : {i32, i64, u8}) {
      list.push_back(OpCase(std::string(fn) + " by zero, " + std::string(to_string(dtype)))
                         .in(dtype, {4}, values({1, 2, 3}))
                         .in(dtype, {4}, values({1, 0}))
                         .set("fn", fn)
                         .refused("zero"));
    }
  }
  return list;
}

}  // namespace concord::ops_test
