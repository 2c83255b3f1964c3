#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

OpCase plain(const std::string& name) {
  return OpCase(name)
      .set("q_layout", "bhsd")
      .set("k_layout", "bhsd")
      .set("v_layout", "bhsd")
      .set("y_layout", "bhsd")
      .set("scale", 0.25)
      .set("causal", "none")
      .set("window", -1)
      .set("softcap", 0.0)
      .set("nan_to_zero", 0)
      .set("softmax_precision", DataType::undefined);
}

}  // namespace

OpCases cases_attention() {
  using enum DataType;
  OpCases list;
  const auto qkv = [](OpCase op_case, DataType dtype, Shape q, Shape k, Shape v) {
    return op_case.in(dtype, std::move(q)).in(dtype, std::move(k)).in(dtype, std::move(v));
  };
  list.push_back(qkv(plain("plain"), f32, {2, 3, 7, 16}, {2, 3, 9, 16}, {2, 3, 9, 16}));
  list.push_back(
      qkv(plain("odd head, longer values"), f32, {1, 2, 5, 11}, {1, 2, 6, 11}, {1, 2, 6, 19}));
  list.push_back(qkv(plain("seq first"), f32, {2, 7, 3, 16}, {2, 9, 3, 16}, {2, 9, 3, 16})
                     .set("q_layout", "bshd")
                     .set("k_layout", "bshd")
                     .set("v_layout", "bshd")
                     .set("y_layout", "bshd"));
  list.push_back(qkv(plain("keys transposed"), f32, {2, 3, 4, 16}, {2, 3, 16, 9}, {2, 3, 9, 16})
                     .set("k_layout", "bhds"));
  list.push_back(qkv(plain("causal"), f32, {1, 2, 33, 8}, {1, 2, 33, 8}, {1, 2, 33, 8})
                     .set("causal", "top_left"));
  list.push_back(qkv(plain("causal with a past"), f32, {1, 2, 3, 8}, {1, 2, 20, 8}, {1, 2, 20, 8})
                     .set("causal", "bottom_right"));
  list.push_back(qkv(plain("window"), f32, {1, 2, 20, 8}, {1, 2, 20, 8}, {1, 2, 20, 8})
                     .set("causal", "bottom_right")
                     .set("window", 5));
  list.push_back(
      qkv(plain("grouped heads, one query"), f32, {2, 8, 1, 16}, {2, 2, 40, 16}, {2, 2, 40, 16}));
  list.push_back(
      qkv(plain("float mask"), f32, {2, 3, 7, 16}, {2, 3, 9, 16}, {2, 3, 9, 16}).in(f32, {7, 9}));
  list.push_back(qkv(plain("float mask per key"), f32, {2, 3, 7, 16}, {2, 3, 9, 16}, {2, 3, 9, 16})
                     .in(f32, {2, 1, 1, 9}, values({0, 0, -10000, 0, 0})));
  list.push_back(qkv(plain("bool mask"), f32, {2, 3, 7, 16}, {2, 3, 9, 16}, {2, 3, 9, 16})
                     .in(boolean, {2, 1, 7, 9}, values({1, 0, 1, 1, 1})));
  list.push_back(qkv(plain("rows that see nothing"), f32, {1, 2, 3, 8}, {1, 2, 4, 8}, {1, 2, 4, 8})
                     .in(boolean, {3, 4}, values({0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1}))
                     .set("nan_to_zero", 1));
  list.push_back(
      qkv(plain("softcap"), f32, {1, 2, 5, 8}, {1, 2, 5, 8}, {1, 2, 5, 8}).set("softcap", 2.0));
  list.push_back(qkv(plain("key lengths"), f32, {3, 2, 4, 8}, {3, 2, 10, 8}, {3, 2, 10, 8})
                     .omit()
                     .in(i64, {3}, values({10, 3, 1})));
  list.push_back(qkv(plain("f16"), f16, {1, 2, 9, 32}, {1, 2, 9, 32}, {1, 2, 9, 32}));
  list.push_back(qkv(plain("bf16"), bf16, {1, 2, 9, 32}, {1, 2, 9, 32}, {1, 2, 9, 32}));
  list.push_back(qkv(plain("no keys"), f32, {2, 2, 9, 32}, {2, 2, 0, 32}, {2, 2, 0, 32}));
  list.push_back(qkv(plain("empty batch"), f32, {0, 2, 9, 32}, {0, 2, 9, 32}, {0, 2, 9, 32}));
  list.push_back(qkv(plain("f64"), f64, {2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 3}));
  list.push_back(
      qkv(plain("f64, causal, masked, capped"), f64, {1, 2, 5, 8}, {1, 2, 9, 8}, {1, 2, 9, 8})
          .in(f64, {5, 9})
          .set("causal", "bottom_right")
          .set("window", 3)
          .set("softcap", 2.0));
  list.push_back(
      qkv(plain("f64, bool mask and lengths"), f64, {2, 2, 3, 8}, {2, 2, 4, 8}, {2, 2, 4, 8})
          .in(boolean, {3, 4}, values({0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1}))
          .in(i64, {2}, values({4, 1}))
          .set("nan_to_zero", 1));
  list.push_back(qkv(plain("f64, seq first"), f64, {2, 7, 3, 8}, {2, 9, 3, 8}, {2, 9, 3, 8})
                     .set("q_layout", "bshd")
                     .set("k_layout", "bshd")
                     .set("v_layout", "bshd")
                     .set("y_layout", "bshd"));
  return list;
}

}  // namespace concord::ops_test
