// The forms that operators on shapes and places have had: attributes that became inputs, defaults
// that changed.
#include "tests/importer/history_case.h"

namespace concord::importer {
namespace {

class LayoutHistory : public ::testing::TestWithParam<HistoryCase> {};

TEST_P(LayoutHistory, Becomes) {
  expect_becomes(GetParam());
}

const std::vector<HistoryCase> kCases = {
    {"squeeze_11_attribute", 11,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{1}, std::int64_t{4}})
           .output("y")
           .node("Squeeze", {"x"}, {"y"}, {{"axes", Ints{-2}}});
     },
     R"(y: float32[b, 4] = reshape(x) {shape=[b, 4]}
)"},
    {"squeeze_13_input", 13,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{1}, std::int64_t{4}})
           .output("y")
           .initializer("a", ints({1}))
           .node("Squeeze", {"x", "a"}, {"y"});
     },
     R"(y: float32[b, 4] = reshape(x) {shape=[b, 4]}
)"},
    {"squeeze_13_all", 13,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {std::int64_t{1}, std::int64_t{4}, std::int64_t{1}})
           .output("y")
           .node("Squeeze", {"x"}, {"y"});
     },
     R"(y: float32[4] = reshape(x) {shape=[4]}
)"},
    {"unsqueeze_11_attribute", 11,
     [](OnnxModel& m) {
       x34(m).node("Unsqueeze", {"x"}, {"y"}, {{"axes", Ints{0, -1}}});
     },
     R"(y: float32[1, b, 3, 4, 1] = reshape(x) {shape=[1, b, 3, 4, 1]}
)"},
    {"unsqueeze_13_input", 13,
     [](OnnxModel& m) {
       x34(m).initializer("a", ints({2, 0})).node("Unsqueeze", {"x", "a"}, {"y"});
     },
     R"(y: float32[1, b, 1, 3, 4] = reshape(x) {shape=[1, b, 1, 3, 4]}
)"},
    {"slice_9_attributes", 9,
     [](OnnxModel& m) {
       x34(m).node("Slice", {"x"}, {"y"},
                   {{"starts", Ints{1}}, {"ends", Ints{-1}}, {"axes", Ints{2}}});
     },
     R"(y: float32[b, 3, 2] = slice(x) {axes=[2], ends=[-1], starts=[1], steps=[1]}
)"},
    {"slice_10_inputs", 10,
     [](OnnxModel& m) {
       x34(m)
           .initializer("s", ints({0}))
           .initializer("e", ints({INT64_MAX}))
           .initializer("a", ints({-1}))
           .initializer("t", ints({2}))
           .node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
     },
     R"(y: float32[b, 3, 2] = slice(x) {axes=[2], ends=[9223372036854775807], starts=[0], steps=[2]}
)"},
    {"pad_2_attributes", 2,
     [](OnnxModel& m) {
       x34(m).node("Pad", {"x"}, {"y"}, {{"pads", Ints{0, 0, 1, 0, 0, 2}}, {"value", 1.5}});
     },
     R"(y: float32[b, 3, 7] = pad(x, -, y#2) {mode="constant", pads=[0, 0, 1, 0, 0, 2]}
)"},
    {"pad_1_paddings", 1,
     [](OnnxModel& m) {
       x34(m).node("Pad", {"x"}, {"y"}, {{"paddings", Ints{0, 1, 0, 0, 0, 0}}, {"mode", "edge"}});
     },
     R"(y: float32[b, 4, 4] = pad(x, -, y#2) {mode="edge", pads=[0, 1, 0, 0, 0, 0]}
)"},
    {"pad_11_inputs", 11,
     [](OnnxModel& m) {
       x34(m)
           .initializer("p", ints({0, 0, 1, 0, 0, 2}))
           .node("Pad", {"x", "p"}, {"y"}, {{"mode", "reflect"}});
     },
     R"(y: float32[b, 3, 7] = pad(x) {mode="reflect", pads=[0, 0, 1, 0, 0, 2]}
)"},
    {"pad_18_axes", 18,
     [](OnnxModel& m) {
       x34(m)
           .initializer("p", ints({1, 2}))
           .initializer("a", ints({-1}))
           .node("Pad", {"x", "p", "", "a"}, {"y"});
     },
     R"(y: float32[b, 3, 7] = pad(x) {mode="constant", pads=[0, 0, 1, 0, 0, 2]}
)"},
    {"split_11_attribute", 11,
     [](OnnxModel& m) {
       x34(m).node("Split", {"x"}, {"y", "z"}, {{"axis", 2}, {"split", Ints{1, 3}}});
     },
     R"(y: float32[b, 3, 1], z: float32[b, 3, 3] = split(x) {axis=2, sizes=[1, 3]}
)"},
    {"split_11_equal", 11,
     [](OnnxModel& m) {
       x34(m).node("Split", {"x"}, {"y", "z"}, {{"axis", -1}});
     },
     R"(y: float32[b, 3, 2], z: float32[b, 3, 2] = split(x) {axis=2, sizes=[2, 2]}
)"},
    {"split_13_input", 13,
     [](OnnxModel& m) {
       x34(m).initializer("s", ints({3, 1})).node("Split", {"x", "s"}, {"y", "z"}, {{"axis", 2}});
     },
     R"(y: float32[b, 3, 3], z: float32[b, 3, 1] = split(x) {axis=2, sizes=[3, 1]}
)"},
    {"split_18_num_outputs", 18,
     [](OnnxModel& m) {
       x34(m).node("Split", {"x"}, {"y", "z"}, {{"axis", 1}, {"num_outputs", 2}});
     },
     R"(y: float32[b, 2, 4], z: float32[b, 1, 4] = split(x) {axis=1, sizes=[2, 1]}
)"},
    {"reshape_4_attribute", 4,
     [](OnnxModel& m) {
       x34(m).node("Reshape", {"x"}, {"y"}, {{"shape", Ints{0, 12}}});
     },
     R"(y: float32[b, 12] = reshape(x) {shape=[b, 12]}
)"},
    {"reshape_5_input", 5,
     [](OnnxModel& m) {
       x34(m).initializer("s", ints({0, -1})).node("Reshape", {"x", "s"}, {"y"});
     },
     R"(y: float32[b, 12] = reshape(x) {shape=[b, 12]}
)"},
    {"reshape_14_allowzero", 14,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {std::int64_t{0}, std::int64_t{3}})
           .output("y")
           .initializer("s", ints({3, 0}))
           .node("Reshape", {"x", "s"}, {"y"}, {{"allowzero", 1}});
     },
     R"(y: float32[3, 0] = reshape(x) {shape=[3, 0]}
)"},
    {"dropout_6", 6,
     [](OnnxModel& m) {
       x34(m).node("Dropout", {"x"}, {"d"}, {{"is_test", 1}}).node("Relu", {"d"}, {"y"});
     },
     R"(y: float32[b, 3, 4] = unary(x) {fn="relu"}
)"},
    {"dropout_12_mask", 12,
     [](OnnxModel& m) {
       x34(m).output("k").node("Dropout", {"x"}, {"d", "k"}).node("Relu", {"d"}, {"y"});
     },
     R"(d#1: int64[3] = shape_of(x) {end=9223372036854775807, start=0}
k: bool[b, 3, 4] = constant_of() {shape=[b, 3, 4], value=bool[1]{1}}
y: float32[b, 3, 4] = unary(x) {fn="relu"}
)"},
    {"dropout_13_not_training", 13,
     [](OnnxModel& m) {
       x34(m)
           .initializer("r", floats({}, {0.5F}))
           .initializer("t", Tensor::zeros(DataType::boolean, {}))
           .node("Dropout", {"x", "r", "t"}, {"d"})
           .node("Relu", {"d"}, {"y"});
     },
     R"(y: float32[b, 3, 4] = unary(x) {fn="relu"}
)"},
    {"upsample_7_attribute", 7,
     [](OnnxModel& m) {
       image(m).node("Upsample", {"x"}, {"y"}, {{"scales", std::vector<float>{1, 1, 2, 2}}});
     },
     R"(y: float32[b, 4, 12, 16] = resize(x) {axes=[0, 1, 2, 3], coordinates="asymmetric", mode="nearest", nearest="floor", scales=[1, 1, 2, 2]}
)"},
    {"upsample_9_input", 9,
     [](OnnxModel& m) {
       image(m)
           .initializer("s", floats({4}, {1, 1, 2, 3}))
           .node("Upsample", {"x", "s"}, {"y"}, {{"mode", "linear"}});
     },
     R"(y: float32[b, 4, 12, 24] = resize(x) {axes=[0, 1, 2, 3], coordinates="asymmetric", mode="linear", nearest="floor", scales=[1, 1, 2, 3]}
)"},
    {"resize_10", 10,
     [](OnnxModel& m) {
       image(m).initializer("s", floats({4}, {1, 1, 0.5F, 0.5F})).node("Resize", {"x", "s"}, {"y"});
     },
     R"(y: float32[b, 4, 3, 4] = resize(x) {axes=[0, 1, 2, 3], coordinates="asymmetric", mode="nearest", nearest="ceil", scales=[1, 1, 0.5, 0.5]}
)"},
    {"resize_11_sizes", 11,
     [](OnnxModel& m) {
       image(m)
           .initializer("r", Tensor(DataType::f32, {0}))
           .initializer("s", Tensor(DataType::f32, {0}))
           .initializer("z", ints({1, 4, 12, 16}))
           .node("Resize", {"x", "r", "s", "z"}, {"y"}, {{"mode", "linear"}});
     },
     R"(y: float32[1, 4, 12, 16] = resize(x) {axes=[0, 1, 2, 3], coordinates="half_pixel", mode="linear", nearest="round_prefer_floor", sizes=[1, 4, 12, 16]}
)"},
    {"resize_18_axes", 18,
     [](OnnxModel& m) {
       image(m)
           .initializer("s", floats({2}, {2, 2}))
           .node("Resize", {"x", "", "s"}, {"y"},
                 {{"axes", Ints{2, 3}},
                  {"mode", "cubic"},
                  {"coordinate_transformation_mode", "align_corners"}});
     },
     R"(y: float32[b, 4, 12, 16] = resize(x) {axes=[2, 3], coordinates="align_corners", mode="cubic", nearest="round_prefer_floor", scales=[2, 2]}
)"},
    {"top_k_1_attribute", 1,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{9}})
           .output("y")
           .node("TopK", {"x"}, {"y", "i"}, {{"k", 3}});
     },
     R"(y: float32[b, 3], i: int64[b, 3] = top_k(x) {axis=1, k=[3], largest=1, sorted=1}
)"},
    {"top_k_11_input", 11,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{9}})
           .output("y")
           .initializer("k", ints({2}))
           .node("TopK", {"x", "k"}, {"y", "i"}, {{"largest", 0}, {"axis", 1}});
     },
     R"(y: float32[b, 2], i: int64[b, 2] = top_k(x) {axis=1, k=[2], largest=0, sorted=1}
)"},
    {"cast_1_name", 1,
     [](OnnxModel& m) {
       x34(m).node("Cast", {"x"}, {"y"}, {{"to", "INT64"}});
     },
     R"(y: int64[b, 3, 4] = cast(x) {to=int64}
)"},
    {"cast_6_number", 6,
     [](OnnxModel& m) {
       x34(m).node("Cast", {"x"}, {"y"}, {{"to", 10}});
     },
     R"(y: float16[b, 3, 4] = cast(x) {to=float16}
)"},
    {"flatten_negative", 11,
     [](OnnxModel& m) {
       x34(m).node("Flatten", {"x"}, {"y"}, {{"axis", -1}});
     },
     R"(y: float32[3*b, 4] = reshape(x) {shape=[3*b, 4]}
)"},
    {"flatten_0", 9,
     [](OnnxModel& m) {
       x34(m).node("Flatten", {"x"}, {"y"}, {{"axis", 0}});
     },
     R"(y: float32[1, 12*b] = reshape(x) {shape=[1, 12*b]}
)"},
    {"shape_15_bounds", 15,
     [](OnnxModel& m) {
       x34(m).node("Shape", {"x"}, {"y"}, {{"start", -2}, {"end", 99}});
     },
     R"(y: int64[2] = shape_of(x) {end=3, start=1}
)"},
    {"size", 13, [](OnnxModel& m) { x34(m).node("Size", {"x"}, {"y"}); },
     R"(y#1: int64[3] = shape_of(x) {end=9223372036854775807, start=0}
y: int64[] = reduce(y#1) {axes=[0], fn="prod", keepdims=0}
)"},
    {"concat_3_default", 3,
     [](OnnxModel& m) {
       x34(m).node("Concat", {"x", "x"}, {"y"});
     },
     R"(y: float32[b, 6, 4] = concat(x, x) {axis=1}
)"},
    {"scatter_9", 9,
     [](OnnxModel& m) {
       x34(m)
           .input("i", DataType::i64, {"b", std::int64_t{3}, std::int64_t{1}})
           .input("u", DataType::f32, {"b", std::int64_t{3}, std::int64_t{1}})
           .node("Scatter", {"x", "i", "u"}, {"y"}, {{"axis", 2}});
     },
     R"(y: float32[b, 3, 4] = scatter_elements(x, i, u) {axis=2, reduction="none"}
)"},
    {"depth_to_space_1", 1,
     [](OnnxModel& m) {
       image(m).node("DepthToSpace", {"x"}, {"y"}, {{"blocksize", 2}});
     },
     R"(y#1: float32[b, 2, 2, 1, 6, 8] = reshape(x) {shape=[b, 2, 2, 1, 6, 8]}
y#2: float32[b, 1, 6, 2, 8, 2] = transpose(y#1) {perm=[0, 3, 4, 1, 5, 2]}
y: float32[b, 1, 12, 16] = reshape(y#2) {shape=[b, 1, 12, 16]}
)"},
    {"depth_to_space_11_crd", 11,
     [](OnnxModel& m) {
       image(m).node("DepthToSpace", {"x"}, {"y"}, {{"blocksize", 2}, {"mode", "CRD"}});
     },
     R"(y#1: float32[b, 1, 2, 2, 6, 8] = reshape(x) {shape=[b, 1, 2, 2, 6, 8]}
y#2: float32[b, 1, 6, 2, 8, 2] = transpose(y#1) {perm=[0, 1, 4, 2, 5, 3]}
y: float32[b, 1, 12, 16] = reshape(y#2) {shape=[b, 1, 12, 16]}
)"},
    {"constant_of_shape", 9,
     [](OnnxModel& m) {
       m.input("x", DataType::f32, {"b", std::int64_t{3}})
           .output("y")
           .node("Shape", {"x"}, {"s"})
           .node("ConstantOfShape", {"s"}, {"y"},
                 {{"value", Tensor::of<std::int64_t>({1}, std::vector<std::int64_t>{7})}});
     },
     R"(s: int64[2] = shape_of(x) {end=2, start=0}
y: int64[b, 3] = constant_of() {shape=[b, 3], value=int64[1]{7}}
)"},
};

INSTANTIATE_TEST_SUITE_P(Importer, LayoutHistory, ::testing::ValuesIn(kCases),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace concord::importer
