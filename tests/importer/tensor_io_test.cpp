#include "importer/tensor_io.h"

#include <cstring>
#include <functional>

#include <sys/stat.h>

#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

// Distinct bits in every element.
Tensor pattern(DataType dtype, Shape shape) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.bytes(); ++i) {
    tensor.mutable_data()[i] =
        static_cast<std::byte>(dtype == DataType::boolean ? i % 2 : (i * 37 + 11) % 251);
  }
  return tensor;
}

std::vector<DataType> all_types() {
  std::vector<DataType> types;
  for (int i = 1; i <= static_cast<int>(DataType::i2); ++i) {
    if (static_cast<DataType>(i) != DataType::string) types.push_back(static_cast<DataType>(i));
  }
  return types;
}

class EveryType : public ::testing::TestWithParam<DataType> {};

TEST_P(EveryType, ThroughPb) {
  const fs::path file = scratch() / "t.pb";
  const Tensor tensor = pattern(GetParam(), {2, 4});
  write_pb(file, tensor, "name");
  const NamedTensor back = read_pb(file);
  EXPECT_EQ(back.name, "name");
  EXPECT_TRUE(identical(back.tensor, tensor));
  // And as protobuf itself reads it.
  onnx::TensorProto proto;
  ASSERT_TRUE(proto.ParseFromString(read(file)));
  EXPECT_EQ(proto.SerializeAsString(), tensor_proto("name", tensor).SerializeAsString());
}

TEST_P(EveryType, ThroughNpyAndNpz) {
  const fs::path folder = scratch();
  const Tensor tensor = pattern(GetParam(), {2, 4});
  write_npy(folder / "t.npy", tensor);
  EXPECT_TRUE(identical(read_npy(folder / "t.npy", GetParam()), tensor));
  write_npz(folder / "t.npz", {{"a/b", tensor}, {"c", Tensor::from_ints(Ints{5})}});
  const auto members = read_npz(folder / "t.npz");
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members.at("a/b").shape(), tensor.shape());
  EXPECT_EQ(members.at("c").at_int(0), 5);
}

INSTANTIATE_TEST_SUITE_P(TensorIo, EveryType, ::testing::ValuesIn(all_types()),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

TEST(Pb, Strings) {
  const fs::path file = scratch() / "t.pb";
  Tensor tensor(DataType::string, {2});
  tensor.mutable_strings()[0] = "one";
  tensor.mutable_strings()[1] = std::string("t\0o", 3);
  write_pb(file, tensor, "");
  EXPECT_TRUE(identical(read_pb(file).tensor, tensor));
}

TEST(Pb, TypedFields) {
  const fs::path file = scratch() / "t.pb";
  const auto typed = [&](DataType dtype, std::int64_t count,
                         const std::function<void(onnx::TensorProto&)>& fill) {
    onnx::TensorProto proto;
    proto.set_data_type(static_cast<int>(dtype));
    proto.add_dims(count);
    fill(proto);
    write(file, proto.SerializeAsString());
    return numbers(read_pb(file).tensor);
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(typed(DataType::f32, 2, [](auto& p) { p.add_float_data(1.5F), p.add_float_data(-2); }),
            (Numbers{1.5, -2}));
  EXPECT_EQ(typed(DataType::f64, 1, [](auto& p) { p.add_double_data(0.1); }), Numbers{0.1});
  EXPECT_EQ(typed(DataType::i64, 2,
                  [](auto& p) { p.add_int64_data(-1), p.add_int64_data(INT64_MAX / 1024); }),
            (Numbers{-1, static_cast<double>(INT64_MAX / 1024)}));
  EXPECT_EQ(typed(DataType::u64, 1, [](auto& p) { p.add_uint64_data(7); }), Numbers{7});
  EXPECT_EQ(typed(DataType::u32, 1, [](auto& p) { p.add_uint64_data(4000000000); }),
            Numbers{4000000000});
  EXPECT_EQ(typed(DataType::i8, 2, [](auto& p) { p.add_int32_data(-3), p.add_int32_data(4); }),
            (Numbers{-3, 4}));
  EXPECT_EQ(typed(DataType::f16, 1, [](auto& p) { p.add_int32_data(0x3c00); }), Numbers{1});
  EXPECT_EQ(typed(DataType::bf16, 1, [](auto& p) { p.add_int32_data(0x3f80); }), Numbers{1});
  EXPECT_EQ(typed(DataType::boolean, 2, [](auto& p) { p.add_int32_data(5), p.add_int32_data(0); }),
            (Numbers{1, 0}));
  EXPECT_EQ(typed(DataType::i4, 3, [](auto& p) { p.add_int32_data(0xf1), p.add_int32_data(0x07); }),
            (Numbers{1, -1, 7}));
}

// A bool whose byte is 2 would be undefined behaviour to read.
TEST(Pb, BoolsAreMadeZeroOrOne) {
  const fs::path file = scratch() / "t.pb";
  onnx::TensorProto proto;
  proto.set_data_type(9);
  proto.add_dims(3);
  proto.set_raw_data(std::string("\x02\x00\xff", 3));
  write(file, proto.SerializeAsString());
  const Tensor tensor = read_pb(file).tensor;
  EXPECT_EQ(std::to_integer<int>(tensor.data()[0]), 1);
  EXPECT_EQ(std::to_integer<int>(tensor.data()[2]), 1);
}

TEST(Pb, Sparse) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{2}, std::int64_t{3}});
  auto* sparse = model.proto().add_sparse_initializer();
  *sparse->mutable_values() = tensor_proto("w", floats({2}, {5, 6}));
  *sparse->mutable_indices() = tensor_proto("", Tensor::of<std::int64_t>({2, 2}, Ints{0, 1, 1, 2}));
  sparse->add_dims(2);
  sparse->add_dims(3);
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  const Imported imported = import(model);
  EXPECT_EQ(numbers(*imported.graph->value(*imported.graph->find_value("w")).constant),
            (std::vector<double>{0, 5, 0, 0, 0, 6}));
  sparse->mutable_indices()->mutable_raw_data()->at(0) = 9;
  expect_parts(caught([&] { import(model); }), ErrorKind::invalid, {"'w'", "out of range"});
}

TEST(Pb, Damaged) {
  const fs::path file = scratch() / "t.pb";
  write(file, "no tensor at all");
  expect_parts(caught([&] { read_pb(file); }), ErrorKind::invalid, {"t.pb"});
  write(file, "");
  expect_parts(caught([&] { read_pb(file); }), ErrorKind::invalid, {"no tensor"});
  expect_parts(caught([] { read_pb("/nonexistent.pb"); }), ErrorKind::invalid, {"nonexistent"});
}

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string text = dictionary + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + data;
}

TEST(Npy, OtherOrders) {
  const fs::path file = scratch() / "t.npy";
  // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype='>i2')
  write(file, npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }",
                  std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12)));
  const Tensor tensor = read_npy(file);
  EXPECT_EQ(tensor.dtype(), DataType::i16);
  EXPECT_EQ(numbers(tensor), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  write(file, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
                  std::string("\0\0\x80\x3f", 4)));
  EXPECT_EQ(read_npy(file).shape(), Shape{});
  EXPECT_EQ(read_npy(file).at_double(0), 1);
}

TEST(Npy, BitsOfTypesThatNumpyLacks) {
  const fs::path file = scratch() / "t.npy";
  // ml_dtypes writes bfloat16 as two opaque bytes.
  write(file, npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }",
                  std::string("\x80\x3f", 2)));
  EXPECT_EQ(read_npy(file, DataType::bf16).at_double(0), 1);
  // A type that does not fit is left for the session to refuse.
  EXPECT_EQ(read_npy(file, DataType::f32).dtype(), DataType::u16);
}

TEST(Npy, Damaged) {
  const fs::path file = scratch() / "t.npy";
  for (const std::string& bytes :
       {std::string("nothing"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }", "abc"),
        npy("{'descr': '<f4', 'shape': (1,), }", "abcd"), npy("{'descr': [('a', '<f4')]}", ""),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", ""),
        npy("{'descr': '<M8', 'fortran_order': False, 'shape': (), }", "abcdefgh"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1", "abcd")}) {
    write(file, bytes);
    expect_parts(caught([&] { read_npy(file); }), ErrorKind::invalid, {"t.npy"});
  }
}

// numpy.savez_compressed(a=numpy.arange(40, dtype='i1') // 8)
TEST(Npz, Deflated) {
  const unsigned char bytes[] = {
      0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x7e,
      0x30, 0xb1, 0x64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00,
      0x61, 0x2e, 0x6e, 0x70, 0x79, 0x01, 0x00, 0x10, 0x00, 0xa8, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x52, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec, 0x17, 0xea, 0x1b,
      0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5,
      0xa0, 0x5e, 0x93, 0x69, 0xa8, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98,
      0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17,
      0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x26, 0x06, 0x3a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a,
      0xe4, 0x03, 0x2e, 0x06, 0x28, 0x60, 0x84, 0x02, 0x26, 0x28, 0x60, 0x86, 0x02, 0x16, 0x28,
      0x00, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00,
      0x00, 0x21, 0x00, 0x7e, 0x30, 0xb1, 0x64, 0x52, 0x00, 0x00, 0x00, 0xa8, 0x00, 0x00, 0x00,
      0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00,
      0x00, 0x00, 0x00, 0x61, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00,
      0x00, 0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x89, 0x00, 0x00, 0x00, 0x00, 0x00};
  const fs::path file = scratch() / "t.npz";
  write(file, std::string(reinterpret_cast<const char*>(bytes), sizeof bytes));
  const Tensor tensor = read_npz(file).at("a");
  ASSERT_EQ(tensor.count(), 40);
  for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(tensor.at_int(i), i / 8);
  std::string damaged = read(file);
  for (std::size_t at = 0; at < damaged.size(); ++at) {
    std::string copy = damaged;
    copy[at] = static_cast<char>(copy[at] ^ 0x5a);
    write(file, copy);
    try {
      read_npz(file);  // names and dates may change unnoticed
    } catch (const Error& e) {
      EXPECT_EQ(exit_code(e.kind()), 2);
    }
    write(file, damaged.substr(0, at));
    EXPECT_THROW(read_npz(file), Error);
  }
}

graph::Graph two_inputs() {
  graph::Graph graph;
  graph.inputs = {graph.add_value("ids", DataType::i64, SymShape{2}),
                  graph.add_value("m/ask:0", DataType::bf16, SymShape{1})};
  graph.outputs = {graph.add_value("out", DataType::f32, SymShape{1})};
  return graph;
}

TEST(DataSet, NumberedFiles) {
  const fs::path folder = scratch() / "test_data_set_0";
  const graph::Graph graph = two_inputs();
  const std::map<std::string, Tensor> inputs = {{"ids", Tensor::from_ints(Ints{1, 2})},
                                                {"m/ask:0", pattern(DataType::bf16, {1})}};
  write_data_set(folder, graph, inputs, {floats({1}, {3})});
  EXPECT_EQ(data_sets(folder.parent_path()), std::vector<fs::path>{folder});
  DataSet set = read_data_set(folder, graph);
  EXPECT_TRUE(identical(set.inputs.at("m/ask:0"), inputs.at("m/ask:0")));
  EXPECT_EQ(set.outputs.at("out").at_double(0), 3);
  EXPECT_EQ(read_outputs(folder, graph).size(), 1u);

  // Other names than the model's: the number counts.
  write_pb(folder / "input_0.pb", Tensor::from_ints(Ints{8, 9}), "something");
  EXPECT_EQ(read_data_set(folder, graph).inputs.at("ids").at_int(1), 9);

  write_pb(folder / "input_2.pb", Tensor::from_ints(Ints{1}), "else");
  expect_parts(caught([&] { read_data_set(folder, graph); }), ErrorKind::invalid,
               {"input_2.pb", "belongs to nothing", "2 values"});
  fs::remove(folder / "input_2.pb");
  fs::remove(folder / "input_1.pb");
  expect_parts(caught([&] { read_data_set(folder, graph); }), ErrorKind::invalid,
               {"1 input", "wants 2", "'m/ask:0'"});
}

TEST(DataSet, NamedFiles) {
  const fs::path folder = scratch();
  const graph::Graph graph = two_inputs();
  write_npy(folder / "ids.npy", Tensor::from_ints(Ints{1, 2}));
  write_npy(folder / "m_ask_0.npy", pattern(DataType::bf16, {1}));
  EXPECT_EQ(read_data_set(folder, graph).inputs.at("m/ask:0").dtype(), DataType::bf16);
  write_npy(folder / "stray.npy", Tensor::from_ints(Ints{1}));
  expect_parts(caught([&] { read_data_set(folder, graph); }), ErrorKind::invalid,
               {"stray.npy", "no input or output"});
}

TEST(DataSet, Archive) {
  const fs::path file = scratch() / "inputs.npz";
  const graph::Graph graph = two_inputs();
  write_npz(file,
            {{"ids", Tensor::from_ints(Ints{1, 2})}, {"m/ask:0", pattern(DataType::bf16, {1})}});
  EXPECT_EQ(read_data_set(file, graph).inputs.at("m/ask:0").dtype(), DataType::bf16);
}

TEST(DataSet, OrderIsNumerical) {
  const fs::path folder = scratch();
  for (const char* name : {"test_data_set_10", "test_data_set_2", "test_data_set_x", "other"}) {
    fs::create_directories(folder / name);
  }
  const auto sets = data_sets(folder);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].filename(), "test_data_set_2");
}

TEST(WriteFile, FullDiskIsOneClearError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  expect_parts(caught([] { write_file("/dev/full", "x"); }), ErrorKind::failed,
               {"/dev/full", "No space left"});
}

TEST(WriteFile, LeavesTheOldFileOrTheNewOne) {
  const fs::path folder = scratch();
  const fs::path file = folder / "report.json";
  write(file, "old");
  write_file(file, "new");
  EXPECT_EQ(read(file), "new");
  fs::create_symlink("report.json", folder / "link");
  write_file(folder / "link", "newer");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read(file), "newer");
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 2);
}

TEST(WriteFile, PathsThatCannotBeWritten) {
  const fs::path folder = scratch();
  expect_parts(caught([&] { write_file(folder / "no" / "where", "x"); }), ErrorKind::usage,
               {"where"});
  expect_parts(caught([&] { write_file(folder, "x"); }), ErrorKind::usage, {"directory"});
}

}  // namespace
}  // namespace concord::importer
