#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

// Names with control characters would move the cursor of whoever prints them.
TEST(Names, ControlCharactersAreEscaped) {
  OnnxModel model(17);
  model.input("x\x1b[2J", DataType::f32, {Extent("n\n")}).output("y\r");
  model.node("Relu", {"x\x1b[2J"}, {"y\r"});
  model.proto().mutable_node(0)->set_name("evil\nconcord: error: none");
  const Imported imported = import(model);
  const graph::Graph& graph = *imported.graph;
  const graph::Value& x = graph.value(graph.inputs.at(0));
  EXPECT_EQ(x.name, "x\\x1b[2J");
  EXPECT_EQ(concord::to_string(*x.shape), "[n\\x0a]");
  EXPECT_EQ(graph.value(graph.outputs.at(0)).name, "y\\x0d");
  EXPECT_EQ(graph.node(graph.order().at(0)).name, "evil\\x0aconcord: error: none");
}

TEST(Names, AreEscapedInErrorsToo) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {2, 3}).output("y");
  model.node("MatMul", {"x", "x"}, {"y"});
  model.proto().mutable_node(0)->set_name("evil\x1b]0;\n");
  const Caught error = caught([&] { import(model); });
  expect_parts(error, ErrorKind::invalid, {"evil\\x1b]0;\\x0a"});
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace concord::importer
