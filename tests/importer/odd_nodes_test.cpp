// Nodes that a fuzzer made of ONNX's own test models: each once crashed, or failed without saying
// what is wrong.
#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

Tensor int64s(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(std::move(shape), std::span<const std::int64_t>(values));
}

TEST(OddNodes, LossOfATargetWithoutAxes) {
  OnnxModel model(13);
  model.input("x", DataType::f32, {3, 5}).input("t", DataType::i64, {}).output("z");
  model.node("NegativeLogLikelihoodLoss", {"x", "t"}, {"z"});
  expect_parts(caught([&] { import(model); }), ErrorKind::invalid,
               {"NegativeLogLikelihoodLoss", "axis 1", "[]"});
}

TEST(OddNodes, AxesThatAreNoList) {
  for (const char* op : {"Squeeze", "Unsqueeze"}) {
    OnnxModel model(21);
    model.input("x", DataType::f32, {1, 5}).input("axes", DataType::i64, {}).output("z");
    model.node(op, {"x", "axes"}, {"z"});
    expect_parts(caught([&] { import(model); }), ErrorKind::invalid, {op, "axes", "rank 0"});
  }
}

TEST(OddNodes, ArithmeticOnTypesThatHaveNone) {
  for (const DataType type : {DataType::i4, DataType::u4, DataType::c64, DataType::string}) {
    OnnxModel model(21);
    model.input("x", type, {2, 4}).output("z");
    model.node("Neg", {"x"}, {"z"});
    expect_parts(caught([&] { import(model); }), ErrorKind::unsupported,
                 {"Neg", std::string(to_string(type))});
  }
  OnnxModel model(21);
  model.input("x", DataType::string, {2, 4}).output("z");
  model.node("ArgMax", {"x"}, {"z"});
  expect_parts(caught([&] { import(model); }), ErrorKind::unsupported, {"ArgMax", "string"});
}

TEST(OddNodes, IndicesOfHalfAByte) {
  OnnxModel model(21);
  model.input("x", DataType::f32, {5}).input("i", DataType::i4, {2}).output("z");
  model.node("Gather", {"x", "i"}, {"z"});
  expect_parts(caught([&] { import(model); }), ErrorKind::invalid, {"Gather", "int4"});
}

TEST(OddNodes, AttributesWithControlCharacters) {
  OnnxModel model(18);
  model.input("x", DataType::f32, {5, 5}).output("z");
  model.initializer("pads", int64s({4}, {0, 1, 0, 1}));
  model.node("Pad", {"x", "pads"}, {"z"},
             {Attr("mode", Attr::Value("\x1b[2J" + std::string(5000, 'a')))});
  const Caught error = caught([&] { import(model); });
  expect_parts(error, ErrorKind::invalid, {"Pad", "mode", "\\x1b[2J"});
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_LT(error.message.size(), 1000u);
}

}  // namespace
}  // namespace concord::importer
