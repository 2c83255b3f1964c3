// The forms that computing operators have had: flattening, broadcasting, attributes that became
// inputs.
#include "tests/importer/history_case.h"

namespace concord::importer {
namespace {

class MathHistory : public ::testing::TestWithParam<HistoryCase> {};

TEST_P(MathHistory, Becomes) {
  expect_becomes(GetParam());
}

const std::vector<HistoryCase> kCases = {
    {"add_6_broadcast_axis", 6,
     [](OnnxModel& m) {
       x34(m)
           .input("s", DataType::f32, {std::int64_t{3}})
           .node("Add", {"x", "s"}, {"y"}, {{"broadcast", 1}, {"axis", 1}});
     },
     R"(y#1: float32[3, 1] = reshape(s) {shape=[3, 1]}
y: float32[b, 3, 4] = binary(x, y#1) {fn="add"}
)"},
    {"add_7_numpy", 7,
     [](OnnxModel& m) {
       x34(m).input("s", DataType::f32, {std::int64_t{4}}).node("Add", {"x", "s"}, {"y"});
     },
     R"(y: float32[b, 3, 4] = binary(x, s) {fn="add"}
)"},
    {"softmax_12_flattens", 12, [](OnnxModel& m) { x34(m).node("Softmax", {"x"}, {"y"}); },
     R"(y#1: float32[b, 12] = reshape(x) {shape=[b, 12]}
y#2: float32[b, 12] = softmax(y#1) {axis=1, log=0}
y: float32[b, 3, 4] = reshape(y#2) {shape=[b, 3, 4]}
)"},
    {"softmax_12_last_axis", 12,
     [](OnnxModel& m) {
       x34(m).node("Softmax", {"x"}, {"y"}, {{"axis", 2}});
     },
     R"(y: float32[b, 3, 4] = softmax(x) {axis=2, log=0}
)"},
    {"softmax_13_one_axis", 13,
     [](OnnxModel& m) {
       x34(m).node("Softmax", {"x"}, {"y"}, {{"axis", 1}});
     },
     R"(y: float32[b, 3, 4] = softmax(x) {axis=1, log=0}
)"},
    {"log_softmax_13_default", 13, [](OnnxModel& m) { x34(m).node("LogSoftmax", {"x"}, {"y"}); },
     R"(y: float32[b, 3, 4] = softmax(x) {axis=2, log=1}
)"},
    {"hardmax_11", 11,
     [](OnnxModel& m) {
       x34(m).node("Hardmax", {"x"}, {"y"}, {{"axis", 2}});
     },
     R"(y#1: float32[3*b, 4] = reshape(x) {shape=[3*b, 4]}
y#2: int64[3*b] = arg_reduce(y#1) {axis=1, fn="argmax", keepdims=0, select_last=0}
y#5: float32[1] = reshape(y#3) {shape=[1]}
y#6: float32[1] = reshape(y#4) {shape=[1]}
y#7: float32[2] = concat(y#5, y#6) {axis=0}
y#8: float32[3*b, 4] = one_hot(y#2, -, y#7) {axis=1, depth=[4]}
y: float32[b, 3, 4] = reshape(y#8) {shape=[b, 3, 4]}
)"},
    {"clip_6_attributes", 6,
     [](OnnxModel& m) {
       x34(m).node("Clip", {"x"}, {"y"}, {{"min", -1.0}, {"max", 6.0}});
     },
     R"(y#2: float32[b, 3, 4] = binary(x, y#1) {fn="max"}
y: float32[b, 3, 4] = binary(y#2, y#3) {fn="min"}
)"},
    {"clip_6_one_side", 10,
     [](OnnxModel& m) {
       x34(m).node("Clip", {"x"}, {"y"}, {{"min", 0.0}});
     },
     R"(y: float32[b, 3, 4] = binary(x, y#1) {fn="max"}
)"},
    {"clip_11_inputs", 11,
     [](OnnxModel& m) {
       x34(m).initializer("hi", floats({}, {6})).node("Clip", {"x", "", "hi"}, {"y"});
     },
     R"(y: float32[b, 3, 4] = binary(x, hi) {fn="min"}
)"},
    {"clip_13_nothing", 13, [](OnnxModel& m) { x34(m).node("Clip", {"x"}, {"y"}); },
     R"(y: float32[b, 3, 4] = unary(x) {fn="identity"}
)"},
    {"reduce_sum_11_attribute", 11,
     [](OnnxModel& m) {
       x34(m).node("ReduceSum", {"x"}, {"y"}, {{"axes", Ints{-1}}, {"keepdims", 0}});
     },
     R"(y: float32[b, 3] = reduce(x) {axes=[2], fn="sum", keepdims=0}
)"},
    {"reduce_sum_13_input", 13,
     [](OnnxModel& m) {
       x34(m).initializer("a", ints({1})).node("ReduceSum", {"x", "a"}, {"y"});
     },
     R"(y: float32[b, 1, 4] = reduce(x) {axes=[1], fn="sum", keepdims=1}
)"},
    {"reduce_sum_13_noop", 13,
     [](OnnxModel& m) {
       x34(m).node("ReduceSum", {"x"}, {"y"}, {{"noop_with_empty_axes", 1}});
     },
     R"(y: float32[b, 3, 4] = unary(x) {fn="identity"}
)"},
    {"reduce_mean_13_all", 13, [](OnnxModel& m) { x34(m).node("ReduceMean", {"x"}, {"y"}); },
     R"(y: float32[1, 1, 1] = reduce(x) {axes=[0, 1, 2], fn="mean", keepdims=1}
)"},
    {"reduce_mean_18_input", 18,
     [](OnnxModel& m) {
       x34(m).initializer("a", ints({-1})).node("ReduceMean", {"x", "a"}, {"y"});
     },
     R"(y: float32[b, 3, 1] = reduce(x) {axes=[2], fn="mean", keepdims=1}
)"},
    {"reduce_square_18_noop", 18,
     [](OnnxModel& m) {
       x34(m)
           .initializer("a", Tensor(DataType::i64, {0}))
           .node("ReduceSumSquare", {"x", "a"}, {"y"}, {{"noop_with_empty_axes", 1}});
     },
     R"(y: float32[b, 3, 4] = unary(x) {fn="square"}
)"},
    {"reduce_max_20_runtime_axes", 20,
     [](OnnxModel& m) {
       x34(m)
           .input("a", DataType::i64, {std::int64_t{1}})
           .node("ReduceMax", {"x", "a"}, {"y"}, {{"keepdims", 0}});
     },
     R"(y: float32[?, ?] = reduce_dynamic(x, a) {fn="max", keepdims=0, noop_empty=0}
)"},
    {"batch_norm_7", 7,
     [](OnnxModel& m) {
       image(m)
           .initializer("s", floats({4}, {1, 2, 3, 4}))
           .initializer("c", floats({4}, {0, 0, 0, 0}))
           .initializer("u", floats({4}, {1, 1, 1, 1}))
           .initializer("v", floats({4}, {1, 1, 1, 1}))
           .node("BatchNormalization", {"x", "s", "c", "u", "v"}, {"y"},
                 {{"epsilon", 0.5}, {"spatial", 1}});
     },
     R"(y#2: float32[4] = binary(v, y#1) {fn="add"}
y#3: float32[4] = unary(y#2) {fn="sqrt"}
y#4: float32[4] = binary(s, y#3) {fn="div"}
y#5: float32[4] = binary(u, y#4) {fn="mul"}
y#6: float32[4] = binary(c, y#5) {fn="sub"}
y#7: float32[4, 1, 1] = reshape(y#4) {shape=[4, 1, 1]}
y#8: float32[b, 4, 6, 8] = binary(x, y#7) {fn="mul"}
y#9: float32[4, 1, 1] = reshape(y#6) {shape=[4, 1, 1]}
y: float32[b, 4, 6, 8] = binary(y#8, y#9) {fn="add"}
)"},
    {"group_norm_18_per_group", 18,
     [](OnnxModel& m) {
       image(m)
           .initializer("s", floats({2}, {1, 2}))
           .initializer("c", floats({2}, {0, 1}))
           .node("GroupNormalization", {"x", "s", "c"}, {"y"}, {{"num_groups", 2}});
     },
     R"(y#1: float32[2, 1] = reshape(s) {shape=[2, 1]}
y#2: float32[2, 2] = broadcast(y#1) {shape=[2, 2]}
y#3: float32[4] = reshape(y#2) {shape=[4]}
y#4: float32[2, 1] = reshape(c) {shape=[2, 1]}
y#5: float32[2, 2] = broadcast(y#4) {shape=[2, 2]}
y#6: float32[4] = reshape(y#5) {shape=[4]}
y: float32[b, 4, 6, 8] = group_norm(x, y#3, y#6) {epsilon=9.99999975e-06, groups=2}
)"},
    {"group_norm_21_per_channel", 21,
     [](OnnxModel& m) {
       image(m)
           .initializer("s", floats({4}, {1, 2, 3, 4}))
           .initializer("c", floats({4}, {0, 1, 2, 3}))
           .node("GroupNormalization", {"x", "s", "c"}, {"y"}, {{"num_groups", 2}});
     },
     R"(y: float32[b, 4, 6, 8] = group_norm(x, s, c) {epsilon=9.99999975e-06, groups=2}
)"},
    {"layer_norm_1_of_onnxruntime", 11,
     [](OnnxModel& m) {
       x34(m)
           .initializer("s", floats({4}, {1, 2, 3, 4}))
           .node("LayerNormalization", {"x", "s"}, {"y"});
     },
     R"(y: float32[b, 3, 4] = layer_norm(x, s) {axis=2, epsilon=9.99999975e-06}
)"},
    {"simplified_layer_norm", 14,
     [](OnnxModel& m) {
       x34(m)
           .initializer("s", floats({4}, {1, 2, 3, 4}))
           .node("SimplifiedLayerNormalization", {"x", "s"}, {"y"},
                 {{"axis", -1}, {"epsilon", 1e-6}, {"stash_type", 1}});
     },
     R"(y: float32[b, 3, 4] = rms_norm(x, s) {axis=2, epsilon=9.99999997e-07}
)"},
    {"gemm_6", 6,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{3}})
           .output("y")
           .initializer("w", floats({2, 3}, {1, 2, 3, 4, 5, 6}))
           .initializer("c", floats({2}, {1, 2}))
           .node("Gemm", {"x", "w", "c"}, {"y"}, {{"transB", 1}, {"broadcast", 1}, {"beta", 0.5}});
     },
     R"(y#2: float32[2] = binary(c, y#1) {fn="mul"}
y: float32[b, 2] = matmul(x, w, y#2)
)"},
    {"matmul_vector", 13,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{2}, std::int64_t{3}})
           .output("y")
           .initializer("v", floats({3}, {1, 2, 3}))
           .node("MatMul", {"x", "v"}, {"y"});
     },
     R"(y#1: float32[3, 1] = reshape(v) {shape=[3, 1]}
y#2: float32[b, 2, 1] = matmul(x, y#1)
y: float32[b, 2] = reshape(y#2) {shape=[b, 2]}
)"},
    {"max_8_of_three", 8,
     [](OnnxModel& m) {
       x34(m).node("Max", {"x", "x", "x"}, {"y"});
     },
     R"(y#1: float32[b, 3, 4] = binary(x, x) {fn="max"}
y: float32[b, 3, 4] = binary(y#1, x) {fn="max"}
)"},
    {"mean_8", 8,
     [](OnnxModel& m) {
       x34(m).node("Mean", {"x", "x", "x"}, {"y"});
     },
     R"(y#1: float32[b, 3, 4] = binary(x, x) {fn="add"}
y#2: float32[b, 3, 4] = binary(y#1, x) {fn="add"}
y: float32[b, 3, 4] = binary(y#2, y#3) {fn="div"}
)"},
    {"average_pool_same", 11,
     [](OnnxModel& m) {
       image(m).node(
           "AveragePool", {"x"}, {"y"},
           {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"auto_pad", "SAME_UPPER"}});
     },
     R"(y: float32[b, 4, 3, 4] = pool(x) {auto_pad="notset", ceil_mode=0, count_include_pad=0, fn="average", kernel=[3, 3], pads=[0, 0, 1, 1], strides=[2, 2]}
)"},
    {"global_average_pool", 13,
     [](OnnxModel& m) { image(m).node("GlobalAveragePool", {"x"}, {"y"}); },
     R"(y: float32[b, 4, 1, 1] = reduce(x) {axes=[2, 3], fn="mean", keepdims=1}
)"},
    {"max_pool_8_indices", 8,
     [](OnnxModel& m) {
       image(m).output("i").node("MaxPool", {"x"}, {"y", "i"}, {{"kernel_shape", Ints{2, 2}}});
     },
     R"(y: float32[b, 4, 5, 7], i: int64[b, 4, 5, 7] = pool(x) {auto_pad="notset", ceil_mode=0, count_include_pad=0, fn="max", kernel=[2, 2], pads=[0, 0, 0, 0], strides=[1, 1]}
)"},
    {"conv_valid", 11,
     [](OnnxModel& m) {
       image(m)
           .initializer("w", floats({1, 4, 1, 1}, {1, 2, 3, 4}))
           .node("Conv", {"x", "w"}, {"y"}, {{"auto_pad", "VALID"}});
     },
     R"(y: float32[b, 1, 6, 8] = conv(x, w) {auto_pad="notset", group=1, pads=[0, 0, 0, 0], strides=[1, 1]}
)"},
    {"lstm_7", 7,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"t", "b", std::int64_t{2}})
           .output("h")
           .initializer("w", Tensor::zeros(DataType::f32, {1, 12, 2}))
           .initializer("r", Tensor::zeros(DataType::f32, {1, 12, 3}))
           .node("LSTM", {"x", "w", "r"}, {"", "h"},
                 {{"hidden_size", 3}, {"direction", "reverse"}});
     },
     R"(-, h: float32[1, b, 3] = lstm(x, w, r) {activations="sigmoid,tanh,tanh", clip=0, direction="reverse", hidden_size=3, input_forget=0, layout=0}
)"},
    {"gru_14_layout", 14,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", "t", std::int64_t{2}})
           .output("s")
           .output("h")
           .initializer("w", Tensor::zeros(DataType::f32, {2, 9, 2}))
           .initializer("r", Tensor::zeros(DataType::f32, {2, 9, 3}))
           .node("GRU", {"x", "w", "r"}, {"s", "h"},
                 {{"hidden_size", 3},
                  {"direction", "bidirectional"},
                  {"layout", 1},
                  {"linear_before_reset", 1}});
     },
     R"(s: float32[b, t, 2, 3], h: float32[b, 2, 3] = gru(x, w, r) {activations="sigmoid,tanh,sigmoid,tanh", clip=0, direction="bidirectional", hidden_size=3, layout=1, linear_before_reset=1}
)"},
    {"quantize_13_axis", 13,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{2}})
           .output("y")
           .initializer("s", floats({2}, {1, 2}))
           .initializer("z", Tensor::zeros(DataType::i8, {2}))
           .node("QuantizeLinear", {"x", "s", "z"}, {"q"})
           .node("DequantizeLinear", {"q", "s", "z"}, {"y"});
     },
     R"(q: int8[b, 2] = quantize(x, s, z) {axis=1, block_size=0, to=int8}
y: float32[b, 2] = dequantize(q, s, z) {axis=1, block_size=0, to=float32}
)"},
    {"quantize_10_scalar", 10,
     [](OnnxModel& m) {
       x34(m).initializer("s", floats({}, {2})).node("QuantizeLinear", {"x", "s"}, {"y"});
     },
     R"(y: uint8[b, 3, 4] = quantize(x, s) {axis=0, block_size=0, to=uint8}
)"},
    {"attention_23_flat", 23,
     [](OnnxModel& m) {
       m.input("q", DataType::f32, {"b", "s", std::int64_t{8}})
           .input("k", DataType::f32, {"b", "t", std::int64_t{4}})
           .input("v", DataType::f32, {"b", "t", std::int64_t{4}})
           .output("y")
           .node("Attention", {"q", "k", "v"}, {"y"},
                 {{"q_num_heads", 2}, {"kv_num_heads", 1}, {"is_causal", 1}});
     },
     R"(y#1: float32[b, s, 2, 4] = reshape(q) {shape=[b, s, 2, 4]}
y#2: float32[b, t, 1, 4] = reshape(k) {shape=[b, t, 1, 4]}
y#3: float32[b, t, 1, 4] = reshape(v) {shape=[b, t, 1, 4]}
y#4: float32[b, s, 2, 4] = attention(y#1, y#2, y#3) {causal="top_left", k_layout="bshd", q_layout="bshd", scale=0.5, softcap=0, softmax_precision=undefined, v_layout="bshd", window=-1, y_layout="bshd"}
y: float32[b, s, 8] = reshape(y#4) {shape=[b, s, 8]}
)"},
    {"attention_24_cache", 24,
     [](OnnxModel& m) {
       m.input("q", DataType::f32, {"b", std::int64_t{2}, "s", std::int64_t{4}})
           .input("k", DataType::f32, {"b", std::int64_t{2}, "s", std::int64_t{4}})
           .input("v", DataType::f32, {"b", std::int64_t{2}, "s", std::int64_t{4}})
           .input("pk", DataType::f32, {"b", std::int64_t{2}, "p", std::int64_t{4}})
           .input("pv", DataType::f32, {"b", std::int64_t{2}, "p", std::int64_t{4}})
           .output("y")
           .output("nk")
           .node("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y", "nk"},
                 {{"is_causal", 1}, {"scale", 0.25}});
     },
     R"(nk: float32[b, 2, p + s, 4] = concat(pk, k) {axis=2}
y#2: float32[b, 2, p + s, 4] = concat(pv, v) {axis=2}
y: float32[b, 2, s, 4] = attention(q, nk, y#2) {causal="bottom_right", k_layout="bhsd", q_layout="bhsd", scale=0.25, softcap=0, softmax_precision=undefined, v_layout="bhsd", window=-1, y_layout="bhsd"}
)"},
    {"rotary_23", 23,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", "s", std::int64_t{8}})
           .input("c", DataType::f32, {std::int64_t{64}, std::int64_t{2}})
           .input("n", DataType::f32, {std::int64_t{64}, std::int64_t{2}})
           .input("p", DataType::i64, {"b", "s"})
           .output("y")
           .node("RotaryEmbedding", {"x", "c", "n", "p"}, {"y"}, {{"num_heads", 2}});
     },
     R"(y#1: float32[b, s, 2, 4] = reshape(x) {shape=[b, s, 2, 4]}
y#2: float32[b, s, 2, 4] = rotary(y#1, c, n, p) {interleaved=0, layout="bshd", rotary_dim=0}
y: float32[b, s, 8] = reshape(y#2) {shape=[b, s, 8]}
)"},
    {"prelu_6_per_channel", 6,
     [](OnnxModel& m) {
       image(m).initializer("s", floats({4}, {1, 2, 3, 4})).node("PRelu", {"x", "s"}, {"y"});
     },
     R"(y#1: float32[4, 1, 1] = reshape(s) {shape=[4, 1, 1]}
y: float32[b, 4, 6, 8] = binary(x, y#1) {fn="prelu"}
)"},
    {"fused_matmul", 17,
     [](OnnxModel& m) {
       x34(m)
           .import("com.microsoft", 1)
           .node("FusedMatMul", {"x", "x"}, {"y"}, {{"transB", 1}, {"alpha", 0.5}},
                 "com.microsoft");
     },
     R"(y: float32[b, 3, 3] = matmul(x, x)
)"},
    {"skip_layer_norm", 17,
     [](OnnxModel& m) {
       x34(m)
           .import("com.microsoft", 1)
           .initializer("g", floats({4}, {1, 1, 1, 1}))
           .initializer("c", floats({4}, {0, 0, 0, 0}))
           .output("sum")
           .node("SkipLayerNormalization", {"x", "x", "g", "c"}, {"y", "", "", "sum"},
                 {{"epsilon", 0.5}}, "com.microsoft");
     },
     R"(sum: float32[b, 3, 4] = binary(x, x) {fn="add"}
y: float32[b, 3, 4] = layer_norm(sum, g, c) {axis=2, epsilon=0.5}
)"},
};

INSTANTIATE_TEST_SUITE_P(Importer, MathHistory, ::testing::ValuesIn(kCases),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace concord::importer
