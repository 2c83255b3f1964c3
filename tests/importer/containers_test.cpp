// Sequences and optionals: in files, as inputs and outputs, and through control flow.
#include "importer/tensor_io.h"
#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

constexpr DataType kSequence = sequence_of(DataType::f32);

Tensor sequence(std::vector<Tensor> items) {
  return Tensor::container(kSequence, std::move(items));
}

TEST(ContainerFiles, RoundTrip) {
  const fs::path file = scratch() / "t.pb";
  const Tensor inner = sequence({floats({2}, {1, 2}), floats({}, {3}), floats({0, 2}, {})});
  for (const Tensor& tensor :
       {inner, sequence({}), Tensor::container(optional_of(DataType::f32), {floats({1}, {4})}),
        Tensor::container(optional_of(DataType::f32), {}),
        Tensor::container(optional_of(kSequence), {inner})}) {
    write_pb(file, tensor, "name");
    const NamedTensor back = read_pb(file, tensor.dtype());
    EXPECT_EQ(back.name, "name");
    EXPECT_TRUE(identical(back.tensor, tensor)) << to_string(tensor.dtype());
  }
}

TEST(ContainerFiles, RefuseWhatDoesNotFit) {
  const fs::path file = scratch() / "t.pb";
  write_pb(file, sequence({floats({2}, {1, 2})}), "s");
  expect_parts(caught([&] { read_pb(file, sequence_of(DataType::i64)); }), ErrorKind::invalid,
               {"t.pb", "float32", "int64"});
  const std::string whole = read(file);
  for (const std::size_t size : {whole.size() - 1, whole.size() - 9}) {
    write(file, whole.substr(0, size));
    expect_parts(caught([&] { read_pb(file, kSequence); }), ErrorKind::invalid, {"t.pb"});
  }
}

// seq(float) x → the number of items of x behind which 7 was put, and what stands first.
TEST(Containers, AreInputs) {
  OnnxModel m(17);
  m.initializer("seven", floats({1}, {7}))
      .initializer("zero", Tensor::scalar(std::int64_t{0}))
      .node("SequenceInsert", {"x", "seven"}, {"more"})
      .node("SequenceLength", {"more"}, {"n"})
      .node("SequenceAt", {"more", "zero"}, {"first"})
      .output("n")
      .output("first")
      .output("more");
  auto* input = m.proto().add_input();
  input->set_name("x");
  input->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(1);
  const Imported model = import(m);
  const auto found = evaluate(*model.graph, {sequence({floats({2}, {1, 2})})});
  EXPECT_EQ(found[0].at_int(0), 2);
  EXPECT_EQ(numbers(found[1]), (std::vector<double>{1, 2}));
  EXPECT_TRUE(identical(found[2], sequence({floats({2}, {1, 2}), floats({1}, {7})})));
  EXPECT_TRUE(identical(evaluate(*model.graph, {sequence({})})[2], sequence({floats({1}, {7})})));
}

TEST(Containers, OfKnownItemsCostNoNodes) {
  OnnxModel m(17);
  m.input("a", DataType::f32, {std::int64_t{2}})
      .initializer("last", Tensor::scalar(std::int64_t{-1}))
      .node("SequenceConstruct", {"a", "a"}, {"s"})
      .node("SequenceAt", {"s", "last"}, {"y"})
      .output("y");
  EXPECT_EQ(nodes_of(*import(m).graph, {"alpha", "beta"}),
            "y: float32[2] = unary(a) {fn=\"identity\"}\n");
}

}  // namespace
}  // namespace concord::importer
