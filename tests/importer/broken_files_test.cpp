// Files that are no sound models: each must end in one plain line that says why, and in nothing
// worse.
#include <functional>
#include <random>

#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

OnnxModel relu() {
  OnnxModel model(17);
  model.input("x", DataType::f32, {"batch", std::int64_t{3}});
  model.initializer("w", floats({3}, {1, 2, 3}));
  model.node("Mul", {"x", "w"}, {"t"}).node("Relu", {"t"}, {"y"}).output("y");
  return model;
}

Caught error_of(const std::string& bytes, const ImportOptions& options = {}) {
  return caught([&] { import_bytes(bytes, options); });
}
Caught error_of(OnnxModel& model, const ImportOptions& options = {}) {
  return error_of(model.bytes(), options);
}

TEST(BrokenFile, SoundModelLoads) {
  OnnxModel model = relu();
  EXPECT_EQ(import(model).graph->order().size(), 2u);
}

TEST(BrokenFile, Missing) {
  const auto error = caught([] { load("/nonexistent/model.onnx"); });
  expect_parts(error, ErrorKind::invalid, {"'/nonexistent/model.onnx'", "does not exist"});
  EXPECT_FALSE(error.hint.empty());
}

TEST(BrokenFile, FolderWithoutModel) {
  const auto folder = scratch();
  expect_parts(caught([&] { load(folder); }), ErrorKind::invalid, {"holds no model.onnx"});
}

TEST(BrokenFile, Empty) {
  expect_parts(error_of(std::string()), ErrorKind::invalid, {"model.onnx", "empty"});
}

TEST(BrokenFile, OtherFormats) {
  for (const auto& [bytes, hint] : std::map<std::string, std::string>{
           {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
           {std::string("PK\x03\x04") + std::string(60, '\0'), "zip archive"},
           {"<!DOCTYPE html><html></html>", "web page"},
           {"GGUF\x03", "GGUF"},
           {"this is a text", ".onnx"}}) {
    const auto error = error_of(bytes);
    expect_parts(error, ErrorKind::invalid, {"no ONNX model"});
    EXPECT_NE(error.hint.find(hint), std::string::npos) << error.hint;
  }
}

TEST(BrokenFile, CutAnywhere) {
  const std::string whole = relu().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A cut at the end of a field leaves a valid protobuf, which then lacks something.
    const auto error = error_of(whole.substr(0, size));
    EXPECT_EQ(exit_code(error.kind), 2) << size << ": " << error.message;
  }
}

// No change of bytes may do more than give a model or an Error.
TEST(BrokenFile, DamagedAnywhere) {
  const std::string whole = relu().bytes();
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    const std::size_t changes = 1 + random() % 4;
    for (std::size_t k = 0; k < changes; ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    try {
      import_bytes(bytes);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(BrokenFile, FutureVersions) {
  OnnxModel ir(17, 99);
  ir.input("x", DataType::f32, {std::int64_t{1}}).node("Relu", {"x"}, {"y"}).output("y");
  expect_parts(error_of(ir), ErrorKind::unsupported, {"IR version is 99", "13"});
  OnnxModel opset(99);
  opset.input("x", DataType::f32, {std::int64_t{1}}).node("Relu", {"x"}, {"y"}).output("y");
  expect_parts(error_of(opset), ErrorKind::unsupported, {"opset 99", "27"});
}

TEST(BrokenFile, NoOpset) {
  OnnxModel model = relu();
  onnx::ModelProto proto = model.model();
  proto.clear_opset_import();
  expect_parts(error_of(proto.SerializeAsString()), ErrorKind::invalid, {"which opset"});
}

TEST(BrokenFile, UnknownOperatorsAllAtOnce) {
  OnnxModel model(17);
  model.input("x", DataType::f16, {std::int64_t{2}});
  model.node("Frobnicate", {"x"}, {"a"}).node("Frobnicate", {"a"}, {"b"});
  model.node("Relu", {"b"}, {"c"}).node("Wobble", {"c"}, {"d"}, {}, "my.domain");
  model.node("Swish", {"x"}, {"e"});
  model.output("d").output("e");
  try {
    import(model);
    FAIL();
  } catch (const UnsupportedOperators& e) {
    ASSERT_EQ(e.rows().size(), 4u) << e.what();
    EXPECT_EQ(e.rows()[0].op, "Frobnicate");
    EXPECT_EQ(e.rows()[0].dtype, "float16");
    EXPECT_EQ(e.rows()[0].opset, 17);
    EXPECT_EQ(e.rows()[0].example, "n1");
    // The second one's input is not known, since the first is not.
    EXPECT_EQ(e.rows()[1].dtype, "-");
    EXPECT_EQ(e.rows()[2].domain, "my.domain");
    EXPECT_EQ(e.rows()[3].op, "Swish");
    EXPECT_NE(e.rows()[3].reason.find("24 and later"), std::string::npos);
    expect_parts({e.kind(), e.what(), e.hint()}, ErrorKind::unsupported,
                 {"model.onnx", "4 nodes", "my.domain.Wobble (opset 1, -, 1 node)"});
    EXPECT_NE(e.hint().find("operator"), std::string::npos);
  }
}

TEST(BrokenFile, UnknownOperatorInABody) {
  GraphText then;
  then.node("Frobnicate", {"x"}, {"t"}).output("t");
  GraphText otherwise;
  otherwise.node("Relu", {"x"}, {"e"}).output("e");
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{2}}).input("c", DataType::boolean, {});
  model.node("If", {"c"}, {"y"},
             {{"then_branch", then.proto()}, {"else_branch", otherwise.proto()}});
  model.output("y");
  expect_parts(error_of(model), ErrorKind::unsupported, {"Frobnicate", "1 node"});
}

TEST(BrokenFile, Cycle) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{2}});
  model.node("Add", {"x", "c"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Neg", {"b"}, {"c"});
  model.output("c");
  expect_parts(error_of(model), ErrorKind::invalid, {"cycle", "'n"});
}

TEST(BrokenFile, UndefinedAndDuplicateNames) {
  OnnxModel undefined(17);
  undefined.input("x", DataType::f32, {std::int64_t{2}});
  undefined.node("Add", {"x", "nowhere"}, {"y"}).output("y");
  expect_parts(error_of(undefined), ErrorKind::invalid, {"'n1' (Add)", "'nowhere'"});

  OnnxModel twice(17);
  twice.input("x", DataType::f32, {std::int64_t{2}});
  twice.node("Relu", {"x"}, {"y"}).node("Neg", {"x"}, {"y"}).output("y");
  expect_parts(error_of(twice), ErrorKind::invalid, {"'y' is defined twice", "n1", "n2"});

  OnnxModel shadow(17);
  shadow.input("x", DataType::f32, {std::int64_t{2}});
  shadow.node("Relu", {"x"}, {"x"}).output("x");
  EXPECT_EQ(exit_code(error_of(shadow).kind), 2);

  OnnxModel weights(17);
  weights.input("x", DataType::f32, {std::int64_t{1}});
  weights.initializer("w", floats({1}, {1})).initializer("w", floats({1}, {2}));
  weights.node("Add", {"x", "w"}, {"y"}).output("y");
  expect_parts(error_of(weights), ErrorKind::invalid, {"'w' is defined twice"});

  OnnxModel no_output(17);
  no_output.input("x", DataType::f32, {std::int64_t{1}});
  no_output.node("Relu", {"x"}, {"y"}).output("z");
  expect_parts(error_of(no_output), ErrorKind::invalid, {"output 'z' is made by no node"});
}

TEST(BrokenFile, InitialisersThatDoNotFit) {
  const auto with = [](const std::function<void(onnx::TensorProto&)>& change) {
    OnnxModel model(17);
    model.input("x", DataType::f32, {std::int64_t{3}});
    model.initializer("w", floats({3}, {1, 2, 3}));
    change(*model.proto().mutable_initializer(0));
    model.node("Add", {"x", "w"}, {"y"}).output("y");
    return error_of(model);
  };
  expect_parts(with([](auto& t) { t.mutable_raw_data()->pop_back(); }), ErrorKind::invalid,
               {"'w'", "float32[3]", "needs 12 bytes, has 11"});
  expect_parts(with([](auto& t) { t.set_dims(0, -3); }), ErrorKind::invalid, {"'w'", "[-3]"});
  expect_parts(with([](auto& t) {
                 t.add_dims(INT64_MAX);
                 t.add_dims(INT64_MAX);
               }),
               ErrorKind::invalid, {"'w'", "too many elements"});
  expect_parts(with([](auto& t) { t.set_dims(0, INT64_MAX / 4); }), ErrorKind::invalid,
               {"'w'", "too many elements"});
  expect_parts(with([](auto& t) { t.set_data_type(77); }), ErrorKind::invalid, {"'w'", "77"});
  expect_parts(with([](auto& t) { t.clear_data_type(); }), ErrorKind::invalid, {"'w'"});
  expect_parts(with([](auto& t) { t.clear_raw_data(); }), ErrorKind::invalid,
               {"needs 3 elements, has 0"});
  expect_parts(with([](auto& t) {
                 for (int i = 0; i < 3; ++i) t.add_int32_data(i);
               }),
               ErrorKind::invalid, {"twice"});
  expect_parts(with([](auto& t) {
                 t.clear_raw_data();
                 t.add_float_data(1);
               }),
               ErrorKind::invalid, {"needs 12 bytes, has 4"});
  expect_parts(with([](auto& t) {
                 for (int i = 0; i < 100; ++i) t.add_dims(1);
               }),
               ErrorKind::invalid, {"rank 101"});
  expect_parts(with([](auto& t) { t.set_data_type(8); }), ErrorKind::invalid, {"strings"});
}

TEST(BrokenFile, WrongTypesAndShapesNameTheNode) {
  OnnxModel types(17);
  types.input("a", DataType::f32, {std::int64_t{2}}).input("b", DataType::i64, {std::int64_t{2}});
  types.node("Add", {"a", "b"}, {"y"}).output("y");
  expect_parts(error_of(types), ErrorKind::invalid,
               {"model.onnx", "'n1' (Add, opset 17)", "float32", "int64"});

  OnnxModel shapes(17);
  shapes.input("a", DataType::f32, {std::int64_t{2}, std::int64_t{3}});
  shapes.input("b", DataType::f32, {std::int64_t{4}, std::int64_t{5}});
  shapes.node("MatMul", {"a", "b"}, {"y"}).output("y");
  expect_parts(error_of(shapes), ErrorKind::invalid, {"'n1' (MatMul, opset 17)", "[2, 3]"});

  OnnxModel attribute(17);
  attribute.input("x", DataType::f32, {std::int64_t{2}});
  attribute.node("Softmax", {"x"}, {"y"}, {{"axis", "last"}}).output("y");
  expect_parts(error_of(attribute), ErrorKind::invalid, {"(Softmax, opset 17)", "'axis'"});

  OnnxModel axis(17);
  axis.input("x", DataType::f32, {std::int64_t{2}});
  axis.node("Softmax", {"x"}, {"y"}, {{"axis", 3}}).output("y");
  expect_parts(error_of(axis), ErrorKind::invalid, {"axis 3", "rank 1"});

  OnnxModel missing(17);
  missing.input("x", DataType::f32, {std::int64_t{2}});
  missing.node("Gather", {"x"}, {"y"}).output("y");
  expect_parts(error_of(missing), ErrorKind::invalid, {"(Gather, opset 17)", "input 1 is missing"});
}

TEST(BrokenFile, NamesAreMadeHarmless) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{2}});
  model.node("Add", {"x", "evil\n\x1b[31m"}, {"y"}).output("y");
  expect_parts(error_of(model), ErrorKind::invalid, {"evil\\x0a\\x1b"});
}

TEST(BrokenFile, DeepNesting) {
  GraphText body;
  body.node("Relu", {"x"}, {"y"}).output("y");
  onnx::GraphProto inner = body.proto();
  for (int depth = 0; depth < 40; ++depth) {
    GraphText outer;
    outer.node("If", {"c"}, {"y"}, {{"then_branch", inner}, {"else_branch", body.proto()}});
    outer.output("y");
    inner = outer.proto();
  }
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{2}}).input("c", DataType::boolean, {});
  model.node("If", {"c"}, {"y"}, {{"then_branch", inner}, {"else_branch", body.proto()}});
  model.output("y");
  expect_parts(error_of(model), ErrorKind::invalid, {"nested deeper than 24"});
}

TEST(BrokenFile, Limits) {
  ImportOptions options;
  options.limits.nodes = 1;
  OnnxModel model = relu();
  expect_parts(error_of(model, options), ErrorKind::invalid, {"more than 1 nodes"});
  options = {};
  options.limits.file_bytes = 10;
  expect_parts(error_of(model, options), ErrorKind::invalid, {"limit of 10"});
  options = {};
  options.limits.structure_bytes = 20;
  expect_parts(error_of(model, options), ErrorKind::invalid, {"more than 20 bytes"});
  options = {};
  options.limits.constant_bytes = 8;
  expect_parts(error_of(model, options), ErrorKind::invalid, {"limit of 8 bytes"});
}

TEST(BrokenFile, DimensionNamesThatWouldExplode) {
  OnnxModel model(17);
  std::string name = "(a+b)";
  for (char c = 'c'; c < 'y'; c += 2) {
    name += std::string("*(") + c + "+" + static_cast<char>(c + 1) + ")";
  }
  model.input("x", DataType::f32, {name});
  model.node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(import(model).info.symbols, std::vector<std::string>{name});
}

TEST(BrokenFile, FunctionsThatCallThemselves) {
  OnnxModel model(17);
  model.import("f", 1);
  model.input("x", DataType::f32, {std::int64_t{2}}).node("F", {"x"}, {"y"}, {}, "f").output("y");
  onnx::ModelProto proto = model.model();
  auto* function = proto.add_functions();
  function->set_domain("f");
  function->set_name("F");
  function->add_input("a");
  function->add_output("b");
  fill_node(*function->add_node(), "F", {"a"}, {"b"}, {}, "f");
  expect_parts(error_of(proto.SerializeAsString()), ErrorKind::invalid, {"call themselves"});
}

TEST(BrokenFile, UnknownDimensionSet) {
  OnnxModel model = relu();
  ImportOptions options;
  options.dims["sequence"] = 3;
  const auto error = error_of(model, options);
  expect_parts(error, ErrorKind::usage, {"'sequence'"});
  EXPECT_NE(error.hint.find("batch"), std::string::npos);
}

}  // namespace
}  // namespace concord::importer
