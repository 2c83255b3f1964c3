#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

struct Form {
  std::int64_t batch = 2, steps = 5, q_heads = 2, heads = 2, depth = 8, width = 8;
  bool past = false;
  std::int64_t decay = 0;  // 0: none; 1: one per head; 2: one per head and depth
  std::int64_t beta = 0;   // 0: none; 1: one for all heads; 2: one per head
  DataType dtype = DataType::f32;
  DataType state = DataType::f32;
};

OpCase attention(const std::string& name, const Form& f) {
  OpCase result(name);
  result.in(f.dtype, {f.batch, f.steps, f.q_heads * f.depth})
      .in(f.dtype, {f.batch, f.steps, f.heads * f.depth}, normal(0, 0.3))
      .in(f.dtype, {f.batch, f.steps, f.heads * f.width});
  if (f.past) {
    result.in(f.state, {f.batch, f.heads, f.depth, f.width});
  } else {
    result.omit();
  }
  if (f.decay > 0) {
    const std::int64_t wide = f.decay == 1 ? f.heads : f.heads * f.depth;
    result.in(f.dtype, {f.batch, f.steps, wide}, uniform(-2, 0));
  } else if (f.beta > 0) {
    result.omit();
  }
  if (f.beta > 0) {
    result.in(f.dtype, {f.batch, f.steps, f.beta == 1 ? 1 : f.heads}, uniform(0, 1));
  }
  return result.set("q_heads", graph::AttrValue(f.q_heads))
      .set("kv_heads", graph::AttrValue(f.heads))
      .set("scale", 0.35)
      .outputs(2);
}

}  // namespace

OpCases cases_linear_attention() {
  using enum DataType;
  OpCases list;
  list.push_back(attention("linear", {}));
  list.push_back(attention("gated", {.decay = 1}));
  list.push_back(attention("gated per depth", {.past = true, .decay = 2}));
  list.push_back(attention("delta", {.beta = 2}));
  list.push_back(attention("gated delta", {.past = true, .decay = 1, .beta = 2}));
  list.push_back(attention("one beta", {.decay = 2, .beta = 1}));
  list.push_back(attention("grouped heads", {.q_heads = 6, .heads = 2, .decay = 2, .beta = 2}));
  list.push_back(attention("one head for all", {.q_heads = 4, .heads = 1, .decay = 2, .beta = 1}));
  list.push_back(attention("one step", {.steps = 1, .past = true, .decay = 2, .beta = 2}));
  list.push_back(attention("odd sizes", {.depth = 5, .width = 7, .decay = 2, .beta = 2}));
  list.push_back(
      attention("wide", {.steps = 20, .depth = 24, .width = 130, .decay = 1, .beta = 2}));
  list.push_back(attention("no steps", {.steps = 0, .past = true, .decay = 1, .beta = 2}));
  list.push_back(attention("no batch", {.batch = 0, .decay = 1}));
  list.push_back(attention("f16", {.decay = 2, .beta = 2, .dtype = f16, .state = f16}));
  list.push_back(
      attention("f16 with a wide state", {.past = true, .decay = 2, .dtype = f16, .state = f32}));
  list.push_back(attention("bf16", {.past = true, .beta = 1, .dtype = bf16, .state = bf16}));
  return list;
}

}  // namespace concord::ops_test
