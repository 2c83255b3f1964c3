#include <cmath>

#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_unary() {
  using enum DataType;
  OpCases list;
  const auto add = [&](const char* fn, const Fill& fill, double alpha = 0, double beta = 0) {
    for (const DataType dtype : {f32, f16, bf16, f64}) {
      list.push_back(OpCase(std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {3, 35}, fill)
                         .set("fn", fn)
                         .set("alpha", alpha)
                         .set("beta", beta));
    }
  };
  for (const char* fn :
       {"abs",      "ceil",       "floor",  "neg",      "relu",      "round", "sign", "square",
        "exp",      "erf",        "tanh",   "sigmoid",  "sin",       "cos",   "tan",  "atan",
        "sinh",     "cosh",       "asinh",  "gelu_erf", "gelu_tanh", "silu",  "mish", "softplus",
        "softsign", "hard_swish", "is_nan", "identity", "reciprocal"}) {
    add(fn, normal(0, 2));
  }
  for (const char* fn : {"asin", "acos", "atanh"}) add(fn, uniform(-0.95, 0.95));
  for (const char* fn : {"sqrt", "log", "rsqrt"}) add(fn, uniform(0.01, 9));
  add("acosh", uniform(1.1, 9));
  add("celu", normal(0, 2), 0.7);
  add("elu", normal(0, 2), 0.7);
  add("leaky_relu", normal(0, 2), 0.1);
  add("hard_sigmoid", normal(0, 2), 0.2, 0.5);
  add("quick_gelu", normal(0, 2), 1.702);
  add("quick_gelu", normal(0, 2), 1.3);
  add("selu", normal(0, 2), 1.67, 1.05);
  add("shrink", normal(0, 2), 0.5, 0.25);
  add("thresholded_relu", normal(0, 2), 0.5);
  add("is_inf", values({1, INFINITY, -INFINITY, NAN}), 1, 0);
  add("is_inf", values({1, INFINITY, -INFINITY, NAN}), 0, 1);
  for (const DataType dtype : {i32, i64, i8}) {
    for (const char* fn : {"abs", "neg", "sign", "bit_not"}) {
      list.push_back(OpCase(std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {3, 9}, integers(-9, 9))
                         .set("fn", fn)
                         .set("alpha", 0.0)
                         .set("beta", 0.0));
    }
  }
  list.push_back(OpCase("logical_not")
                     .in(boolean, {9}, integers(0, 1))
                     .set("fn", "logical_not")
                     .set("alpha", 0.0)
                     .set("beta", 0.0));
  for (const char* fn : {"relu", "exp", "tanh", "gelu_erf"}) {
    list.push_back(OpCase(std::string(fn) + " scalar")
                       .in(f32, {})
                       .set("fn", fn)
                       .set("alpha", 0.0)
                       .set("beta", 0.0));
    list.push_back(OpCase(std::string(fn) + " empty")
                       .in(f32, {0, 3})
                       .set("fn", fn)
                       .set("alpha", 0.0)
                       .set("beta", 0.0));
    list.push_back(
        OpCase(std::string(fn) + " extremes")
            .in(f32, {8}, values({INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e30, -1e30, 1e-40}))
            .set("fn", fn)
            .set("alpha", 0.0)
            .set("beta", 0.0));
  }
  for (const char* fn :
       {"abs",      "acos",    "acosh", "asin", "asinh", "atan",       "atanh",     "ceil",
        "cos",      "cosh",    "erf",   "exp",  "floor", "gelu_erf",   "gelu_tanh", "hard_swish",
        "identity", "is_nan",  "log",   "mish", "neg",   "reciprocal", "relu",      "round",
        "rsqrt",    "sigmoid", "sign",  "silu", "sin",   "sinh",       "softplus",  "softsign",
        "sqrt",     "square",  "tan",   "tanh"}) {
    for (const DataType dtype : {f32, f16, bf16, f64}) {
      list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {13}, extremes())
                         .set("fn", fn)
                         .set("alpha", 0.0)
                         .set("beta", 0.0));
    }
  }
  for (const char* fn : {"celu", "elu", "leaky_relu", "hard_sigmoid", "quick_gelu", "selu",
                         "shrink", "thresholded_relu", "is_inf"}) {
    list.push_back(OpCase("edges, " + std::string(fn))
                       .in(f32, {13}, extremes())
                       .set("fn", fn)
                       .set("alpha", 1.0)
                       .set("beta", 0.5));
  }
  for (const DataType dtype : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    for (const char* fn : {"abs", "neg", "sign", "bit_not", "identity"}) {
      list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)))
                         .in(dtype, {2, 7}, edge_bits())
                         .set("fn", fn)
                         .set("alpha", 0.0)
                         .set("beta", 0.0));
    }
  }
  return list;
}

}  // namespace concord::ops_test
