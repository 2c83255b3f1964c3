#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

OpCase product(const std::string& name) {
  return OpCase(name).set("trans_a", 0).set("trans_b", 0).set("alpha", 1.0);
}

}  // namespace

OpCases cases_matmul() {
  using enum DataType;
  OpCases list;
  // Weights known before: packed.
  for (const std::int64_t rows : {1, 2, 5, 17, 130}) {
    list.push_back(product("packed, rows " + std::to_string(rows))
                       .in(f32, {rows, 96})
                       .weight(f32, {96, 72}, normal(0, 0.1)));
  }
  list.push_back(product("packed, batch").in(f32, {2, 3, 40}).weight(f32, {40, 70}));
  list.push_back(product("packed, odd").in(f32, {2, 3, 37}).weight(f32, {37, 13}));
  list.push_back(product("packed, one column").in(f32, {9, 37}).weight(f32, {37, 1}));
  list.push_back(product("packed, deep").in(f32, {3, 3072}).weight(f32, {3072, 20}));
  list.push_back(
      product("packed, transposed").in(f32, {6, 40}).weight(f32, {70, 40}).set("trans_b", 1));
  list.push_back(
      product("packed, left transposed").in(f32, {40, 6}).weight(f32, {40, 70}).set("trans_a", 1));
  list.push_back(product("packed, no rows").in(f32, {0, 40}).weight(f32, {40, 70}));
  list.push_back(product("packed, f16").in(f16, {6, 40}).weight(f16, {40, 70}));
  list.push_back(product("packed, bf16").in(bf16, {6, 40}).weight(bf16, {40, 70}));
  const auto packed = [&](const std::string& name) {
    return product(name).in(f32, {2, 5, 40}).weight(f32, {40, 70}, normal(0, 0.2));
  };
  list.push_back(packed("bias").weight(f32, {70}));
  list.push_back(packed("bias and residual").weight(f32, {70}).in(f32, {2, 5, 70}));
  list.push_back(packed("residual").omit().in(f32, {2, 5, 70}));
  list.push_back(packed("residual of a row").omit().in(f32, {70}));
  list.push_back(packed("residual per matrix").omit().in(f32, {2, 1, 70}));
  list.push_back(packed("bias per row").in(f32, {5, 1}));
  list.push_back(packed("alpha").weight(f32, {70}).set("alpha", 0.125));
  for (const char* fn : {"relu", "gelu_erf", "gelu_tanh", "silu", "tanh", "sigmoid", "hard_swish",
                         "elu", "leaky_relu"}) {
    list.push_back(packed(std::string("activation ") + fn)
                       .weight(f32, {70})
                       .in(f32, {2, 5, 70})
                       .set("activation", fn)
                       .set("act_alpha", 0.5)
                       .set("act_beta", 0.0));
  }
  list.push_back(packed("activation quick_gelu")
                     .set("activation", "quick_gelu")
                     .set("act_alpha", 1.702)
                     .set("act_beta", 0.0));
  // Both of the run.
  list.push_back(product("batched").in(f32, {2, 3, 5, 8}).in(f32, {2, 3, 8, 9}));
  list.push_back(product("batched, broadcast").in(f32, {2, 1, 5, 8}).in(f32, {3, 8, 9}));
  list.push_back(
      product("batched, transposed").in(f32, {3, 5, 40}).in(f32, {3, 9, 40}).set("trans_b", 1));
  list.push_back(
      product("batched, left transposed").in(f32, {3, 8, 5}).in(f32, {3, 8, 9}).set("trans_a", 1));
  list.push_back(product("batched, alpha and bias")
                     .in(f32, {3, 5, 8})
                     .in(f32, {3, 8, 9})
                     .in(f32, {9})
                     .set("alpha", 0.5));
  list.push_back(product("batched, residual and activation")
                     .in(f32, {3, 5, 8})
                     .in(f32, {3, 8, 9})
                     .in(f32, {9})
                     .in(f32, {3, 5, 9})
                     .set("activation", "relu")
                     .set("act_alpha", 0.0)
                     .set("act_beta", 0.0));
  list.push_back(product("batched, one row").in(f32, {4, 1, 64}).in(f32, {4, 64, 33}));
  list.push_back(product("batched, no depth").in(f32, {2, 3, 0}).in(f32, {2, 0, 4}));
  list.push_back(product("batched, no batch").in(f32, {0, 3, 4}).in(f32, {0, 4, 4}));
  list.push_back(product("batched, f16").in(f16, {3, 5, 8}).in(f16, {3, 8, 9}));
  list.push_back(product("batched, bf16").in(bf16, {3, 5, 8}).in(bf16, {3, 8, 9}));
  list.push_back(product("batches of weights").in(f32, {3, 5, 8}).weight(f32, {3, 8, 9}));
  list.push_back(product("left constant").weight(f32, {5, 8}).in(f32, {3, 8, 9}));
  list.push_back(product("f64 with an epilogue")
                     .in(f64, {3, 5, 8})
                     .in(f64, {8, 9})
                     .in(f64, {9})
                     .in(f64, {3, 5, 9})
                     .set("activation", "gelu_erf")
                     .set("act_alpha", 0.0)
                     .set("act_beta", 0.0));
  list.push_back(product("f64").in(f64, {3, 5, 8}).in(f64, {8, 9}));
  list.push_back(
      product("i32").in(i32, {3, 5, 8}, integers(-9, 9)).in(i32, {8, 9}, integers(-9, 9)));
  list.push_back(product("i64").in(i64, {5, 8}, integers(-9, 9)).in(i64, {8, 9}, integers(-9, 9)));
  const auto edges = [] { return values({1, 2, kInfinity, -1, 0.5, kNaN, -2, 3, 0.0, -0.0}); };
  list.push_back(product("edges, packed").in(f32, {4, 5}, edges()).weight(f32, {5, 40}));
  list.push_back(product("edges, batched").in(f32, {2, 4, 5}, edges()).in(f32, {2, 5, 9}));
  list.push_back(product("edges of weights").in(f32, {4, 10}).weight(f32, {10, 7}, edges()));
  list.push_back(product("edges, one row").in(f32, {1, 5}, edges()).weight(f32, {5, 40}));
  list.push_back(product("subnormal").in(f32, {3, 4}, values({0x1p-140, 1})).in(f32, {4, 5}));
  return list;
}

}  // namespace concord::ops_test
