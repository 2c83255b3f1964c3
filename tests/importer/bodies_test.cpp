// Branches, loops and functions: what bodies see of the outside, and what is left of a call.
#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

using Numbers = std::vector<double>;

Tensor boolean(bool value) {
  Tensor tensor = Tensor::zeros(DataType::boolean, {});
  tensor.mutable_data()[0] = static_cast<std::byte>(value ? 1 : 0);
  return tensor;
}

OnnxModel branching() {
  GraphText then;
  then.initializer("two", floats({}, {2})).node("Mul", {"t", "two"}, {"p"}).output("p");
  GraphText otherwise;
  otherwise.node("Sub", {"t", "w"}, {"q"}).output("q");
  OnnxModel model(17);
  model.input("c", DataType::boolean, {}).input("x", DataType::f32, {"n"});
  model.initializer("w", floats({1}, {10}));
  model.node("Neg", {"x"}, {"t"});
  model.node("If", {"c"}, {"y"},
             {{"then_branch", then.proto()}, {"else_branch", otherwise.proto()}});
  model.output("y");
  return model;
}

TEST(If, CapturesBecomeInputs) {
  OnnxModel model = branching();
  const Imported imported = import(model);
  EXPECT_EQ(nodes_of(*imported.graph, {"alpha", "beta"}),
            "t: float32[n] = unary(x) {fn=\"neg\"}\n"
            "y: float32[n] = if_then_else(c, t)\n");
  const graph::Node& node = imported.graph->node(imported.graph->order()[1]);
  // Constants are the bodies' own.
  EXPECT_EQ(node.bodies[1].inputs.size(), 1u);
  EXPECT_TRUE(node.bodies[1].find_value("w").has_value());
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(numbers(evaluate(*imported.graph, {boolean(true), x})[0]), (Numbers{-2, -4}));
  EXPECT_EQ(numbers(evaluate(*imported.graph, {boolean(false), x})[0]), (Numbers{-11, -12}));
}

TEST(If, KnownConditionLeavesOneBranch) {
  OnnxModel model = branching();
  model.proto().mutable_input()->DeleteSubrange(0, 1);
  model.initializer("c", boolean(false));
  EXPECT_EQ(nodes_of(*import(model).graph, {"alpha", "beta"}),
            "t: float32[n] = unary(x) {fn=\"neg\"}\n"
            "y: float32[n] = binary(t, w) {fn=\"sub\"}\n");
}

// torch.squeeze on a symbolic axis, the rank depends on an extent; and what is made of it.
OnnxModel squeezed_if_one(const std::string& op, const std::vector<std::string>& more,
                          const std::vector<Attr>& attrs) {
  GraphText then;
  then.initializer("a", Tensor::from_ints(Ints{0})).node("Squeeze", {"x", "a"}, {"p"}).output("p");
  GraphText otherwise;
  otherwise.node("Identity", {"x"}, {"q"}).output("q");
  OnnxModel model(17);
  model.input("x", DataType::f32, {"n", std::int64_t{2}});
  model.initializer("one", Tensor::from_ints(Ints{1}));
  model.node("Shape", {"x"}, {"s"}, {{"end", 1}}).node("Equal", {"s", "one"}, {"c"});
  model.node("If", {"c"}, {"t"},
             {{"then_branch", then.proto()}, {"else_branch", otherwise.proto()}});
  std::vector<std::string> inputs{"t"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  model.node(op, inputs, {"y"}, attrs).output("y");
  return model;
}

TEST(If, SqueezeThatDependsOnAnExtent) {
  OnnxModel model = squeezed_if_one("Unsqueeze", {"one"}, {});
  const Imported imported = import(model);
  EXPECT_TRUE(imported.info.oddities.empty());
  EXPECT_EQ(evaluate(*imported.graph, {floats({1, 2}, {3, 4})})[0].shape(), (Shape{2, 1}));
  EXPECT_EQ(evaluate(*imported.graph, {floats({2, 2}, {1, 2, 3, 4})})[0].shape(), (Shape{2, 1, 2}));
}

// An operator that must know the rank at import gets that of the narrower branch.
TEST(If, SqueezeBeforeWhatNeedsTheRank) {
  OnnxModel model = squeezed_if_one("Softmax", {}, {{"axis", -1}});
  const Imported imported = import(model);
  ASSERT_EQ(imported.info.oddities.size(), 1u);
  EXPECT_NE(imported.info.oddities[0].find("different rank"), std::string::npos);
  EXPECT_EQ(evaluate(*imported.graph, {floats({1, 2}, {3, 4})})[0].shape(), (Shape{2}));
  EXPECT_THROW(evaluate(*imported.graph, {floats({2, 2}, {1, 2, 3, 4})}), Error);
}

// Carried values that grow, and ones that are stacked.
TEST(Loop, CarriesGrowsAndStacks) {
  GraphText body;
  body.input("i", DataType::i64, {}).input("c", DataType::boolean, {});
  body.input("grown", DataType::f32, {""});
  body.node("Identity", {"c"}, {"again"});
  body.node("Concat", {"grown", "x"}, {"longer"}, {{"axis", 0}});
  body.node("Cast", {"i"}, {"f"}, {{"to", 1}}).node("Mul", {"x", "f"}, {"scaled"});
  body.output("again").output("longer").output("scaled");
  OnnxModel model(17);
  model.input("n", DataType::i64, {}).input("x", DataType::f32, {std::int64_t{2}});
  model.initializer("start", floats({1}, {7}));
  model.node("Loop", {"n", "", "start"}, {"y", "z"}, {{"body", body.proto()}});
  model.output("y").output("z");
  const Imported imported = import(model);
  const auto results =
      evaluate(*imported.graph, {Tensor::scalar(std::int64_t{3}), floats({2}, {1, 2})});
  EXPECT_EQ(numbers(results[0]), (Numbers{7, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(results[1].shape(), (Shape{3, 2}));
  EXPECT_EQ(numbers(results[1]), (Numbers{0, 0, 1, 2, 2, 4}));
}

// Shape arithmetic in a loop must follow the value that grows.
TEST(Loop, ShapesOfCarriedValuesAreNotBakedIn) {
  GraphText body;
  body.input("i", DataType::i64, {}).input("c", DataType::boolean, {});
  body.input("v", DataType::f32, {""});
  body.node("Identity", {"c"}, {"again"}).node("Shape", {"v"}, {"s"});
  body.node("ConstantOfShape", {"s"}, {"zeros"}).node("Flatten", {"v"}, {"flat"}, {{"axis", 0}});
  body.node("Squeeze", {"flat", "axis"}, {"back"});
  body.node("Concat", {"back", "zeros"}, {"w"}, {{"axis", 0}});
  body.output("again").output("w");
  OnnxModel model(17);
  model.input("n", DataType::i64, {}).initializer("start", floats({1}, {5}));
  model.initializer("axis", Tensor::from_ints(Ints{0}));
  model.node("Loop", {"n", "", "start"}, {"y"}, {{"body", body.proto()}}).output("y");
  const Imported imported = import(model);
  EXPECT_EQ(numbers(evaluate(*imported.graph, {Tensor::scalar(std::int64_t{2})})[0]),
            (Numbers{5, 0, 0, 0}));
}

TEST(Scan, SumsAlongAnAxis) {
  GraphText body;
  body.input("sum", DataType::f32, {std::int64_t{2}})
      .input("row", DataType::f32, {std::int64_t{2}});
  body.node("Add", {"sum", "row"}, {"next"}).node("Mul", {"next", "k"}, {"out"});
  body.output("next").output("out");
  OnnxModel model(17);
  model.input("s", DataType::f32, {std::int64_t{2}});
  model.input("x", DataType::f32, {std::int64_t{2}, "n"}).input("k", DataType::f32, {});
  model.node("Scan", {"s", "x"}, {"last", "all"},
             {{"body", body.proto()}, {"num_scan_inputs", 1}, {"scan_input_axes", Ints{-1}}});
  model.output("last").output("all");
  const Imported imported = import(model);
  const auto results =
      evaluate(*imported.graph,
               {floats({2}, {0, 0}), floats({2, 3}, {1, 2, 3, 10, 20, 30}), floats({}, {2})});
  EXPECT_EQ(numbers(results[0]), (Numbers{6, 60}));
  EXPECT_EQ(numbers(results[1]), (Numbers{2, 20, 6, 60, 12, 120}));
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs) {
  auto* function = model.add_functions();
  function->set_domain("local");
  function->set_name(name);
  for (const std::string& input : inputs) function->add_input(input);
  for (const std::string& output : outputs) function->add_output(output);
  auto* opset = function->add_opset_import();
  opset->set_domain("");
  opset->set_version(12);
  return *function;
}

// The attribute is handed on, the function has an opset of its own, and an omitted argument stays
// omitted.
TEST(Function, IsInlinedWithItsAttributes) {
  OnnxModel model(18);
  model.import("local", 1);
  model.input("x", DataType::f32, {"n", std::int64_t{3}});
  model.node("F", {"x"}, {"y"}, {{"limit", 4.0}}, "local");
  model.node("F", {"y"}, {"z"}, {}, "local").output("z");
  onnx::ModelProto proto = model.model();
  onnx::FunctionProto& f = add_function(proto, "F", {"a", "high"}, {"r"});
  f.add_attribute("limit");
  fill_node(*f.add_node(), "Clip", {"a", "", "high"}, {"t"}, {}, "");
  fill_node(*f.add_node(), "G", {"t"}, {"u"}, {Attr::refer("cap", "limit")}, "local");
  // Opset 12: all axes from 1 on at once.
  fill_node(*f.add_node(), "Softmax", {"u"}, {"r"}, {}, "");
  onnx::FunctionProto& g = add_function(proto, "G", {"a"}, {"b"});
  auto* cap = g.add_attribute_proto();
  cap->set_name("cap");
  cap->set_type(onnx::AttributeProto::FLOAT);
  cap->set_f(9);
  fill_node(*g.add_node(), "LeakyRelu", {"a"}, {"b"}, {Attr::refer("alpha", "cap")}, "");
  const Imported imported = import_bytes(proto.SerializeAsString());
  EXPECT_EQ(nodes_of(*imported.graph, {"beta", "nan_to_zero"}),
            "n1/u: float32[n, 3] = unary(x) {alpha=4, fn=\"leaky_relu\"}\n"
            "y: float32[n, 3] = softmax(n1/u) {axis=1, log=0}\n"
            "n2/u: float32[n, 3] = unary(y) {alpha=9, fn=\"leaky_relu\"}\n"
            "z: float32[n, 3] = softmax(n2/u) {axis=1, log=0}\n");
}

TEST(Function, WrongCallNamesTheNode) {
  OnnxModel model(18);
  model.import("local", 1);
  model.input("x", DataType::f32, {std::int64_t{3}});
  model.node("F", {"x", "x"}, {"y"}, {}, "local").output("y");
  onnx::ModelProto proto = model.model();
  fill_node(*add_function(proto, "F", {"a"}, {"b"}).add_node(), "Relu", {"a"}, {"b"}, {}, "");
  expect_parts(caught([&] { import_bytes(proto.SerializeAsString()); }), ErrorKind::invalid,
               {"'n1' (local.F)", "1 input"});
}

TEST(Order, NodesInAnyOrder) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {"n"});
  model.node("Relu", {"b"}, {"y"}).node("Neg", {"x"}, {"a"}).node("Abs", {"a"}, {"b"}).output("y");
  const Imported imported = import(model);
  EXPECT_EQ(imported.info.oddities,
            std::vector<std::string>{"the nodes are not in topological order"});
  EXPECT_EQ(numbers(evaluate(*imported.graph, {floats({1}, {-3})})[0]), Numbers{3});
}

TEST(Sequence, KnownLengthsVanish) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {"n", std::int64_t{4}});
  model.initializer("one", Tensor::scalar(std::int64_t{1}));
  model.node("SplitToSequence", {"x"}, {"s"}, {{"axis", 1}, {"keepdims", 0}});
  model.node("SequenceAt", {"s", "one"}, {"b"}).node("SequenceInsert", {"s", "b"}, {"t"});
  model.node("ConcatFromSequence", {"t"}, {"y"}, {{"axis", 1}, {"new_axis", 1}}).output("y");
  const Imported imported = import(model);
  EXPECT_EQ(numbers(evaluate(*imported.graph, {floats({1, 4}, {1, 2, 3, 4})})[0]),
            (Numbers{1, 2, 3, 4, 2}));
}

TEST(Inputs, SymbolsAndOddities) {
  OnnxModel model(17, 3);
  model.input("x", DataType::f32, {"batch", "past_seq + seq", "", std::int64_t{-1}});
  model.input("w", DataType::f32, {std::int64_t{1}});
  model.initializer("w", floats({1}, {2}));
  model.node("Mul", {"x", "w"}, {"y"}).output("y").output("x");
  const Imported imported = import(model);
  EXPECT_EQ(imported.info.symbols,
            (std::vector<std::string>{"batch", "past_seq", "seq", "x_dim2", "x_dim3"}));
  EXPECT_EQ(imported.graph->inputs.size(), 1u);
  EXPECT_EQ(imported.info.oddities.size(), 1u);
  // An input that is an output too passes through a node, so that the two can be told apart.
  EXPECT_NE(imported.graph->outputs[1], imported.graph->inputs[0]);
  EXPECT_EQ(imported.graph->value(imported.graph->outputs[1]).name, "x");
}

TEST(Inputs, DimensionsCanBeFixed) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {"batch", "past + seq"});
  model.node("Relu", {"x"}, {"y"}).output("y");
  ImportOptions options;
  options.dims = {{"seq", 3}};
  EXPECT_EQ(nodes_of(*import(model, options).graph, {"alpha", "beta"}),
            "y: float32[batch, past + 3] = unary(x) {fn=\"relu\"}\n");
}

}  // namespace
}  // namespace concord::importer
