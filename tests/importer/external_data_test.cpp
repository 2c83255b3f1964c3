// Weights in files of their own: where they may lie, and how they are held.
#include <cstring>

#include "importer/mapped_file.h"
#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

// y = x + w, w [4] in the file `location` at `offset`.
OnnxModel external(const std::string& location, const std::string& offset = "",
                   const std::string& length = "") {
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{4}});
  auto* w = model.proto().add_initializer();
  w->set_name("w");
  w->set_data_type(1);
  w->add_dims(4);
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const std::string& key, const std::string& value) {
    if (value.empty()) return;
    auto* e = w->add_external_data();
    e->set_key(key);
    e->set_value(value);
  };
  entry("location", location);
  entry("offset", offset);
  entry("length", length);
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  return model;
}

std::string four_floats() {
  const float values[] = {1, 2, 3, 4};
  return std::string(reinterpret_cast<const char*>(values), sizeof values);
}

std::vector<double> weights_of(const graph::Graph& graph) {
  return numbers(*graph.value(*graph.find_value("w")).constant);
}

struct Folder {
  Folder() : root(scratch()), model_dir(root / "snapshots" / "main") {
    fs::create_directories(model_dir);
    fs::create_directories(root / "blobs");
  }
  Imported load_model(OnnxModel model, const ImportOptions& options = {}) const {
    write(model_dir / "model.onnx", model.bytes());
    return load(model_dir, options);
  }
  Caught error(OnnxModel model, const ImportOptions& options = {}) const {
    return caught([&] { load_model(std::move(model), options); });
  }
  fs::path root;
  fs::path model_dir;
};

TEST(ExternalData, BesideTheModel) {
  Folder f;
  write(f.model_dir / "w.bin", std::string(8, '\0') + four_floats());
  const Imported imported = f.load_model(external("w.bin", "8", "16"));
  EXPECT_EQ(weights_of(*imported.graph), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(imported.info.external_files, std::vector<std::string>{"w.bin"});
  EXPECT_EQ(imported.info.weight_bytes, 16);
}

TEST(ExternalData, InAFolderBelow) {
  Folder f;
  fs::create_directories(f.model_dir / "weights");
  write(f.model_dir / "weights" / "w.bin", four_floats());
  EXPECT_EQ(weights_of(*f.load_model(external("weights/w.bin")).graph).back(), 4);
}

TEST(ExternalData, Missing) {
  Folder f;
  expect_parts(f.error(external("w.bin")), ErrorKind::invalid,
               {"model.onnx", "'w'", "'w.bin'", "missing"});
}

TEST(ExternalData, TooShort) {
  Folder f;
  write(f.model_dir / "w.bin", four_floats());
  expect_parts(f.error(external("w.bin", "8")), ErrorKind::invalid,
               {"'w'", "16 bytes, too short for 16 bytes at offset 8"});
  expect_parts(f.error(external("w.bin", "9223372036854775807")), ErrorKind::invalid,
               {"too short"});
}

TEST(ExternalData, ContradictoryOrSenselessNumbers) {
  Folder f;
  write(f.model_dir / "w.bin", four_floats());
  expect_parts(f.error(external("w.bin", "", "12")), ErrorKind::invalid,
               {"needs 16 bytes, its external data has 12"});
  for (const char* text : {"-4", "x", "1.5", "99999999999999999999"}) {
    expect_parts(f.error(external("w.bin", text)), ErrorKind::invalid, {"offset", text});
  }
}

TEST(ExternalData, OutsideTheFolder) {
  Folder f;
  write(f.root / "w.bin", four_floats());
  const auto up = f.error(external("../../w.bin"));
  expect_parts(up, ErrorKind::invalid, {"'../../w.bin'", "outside"});
  EXPECT_NE(up.hint.find("--external-root"), std::string::npos);
  expect_parts(f.error(external((f.root / "w.bin").string())), ErrorKind::invalid, {"absolute"});
  expect_parts(f.error(external("")), ErrorKind::invalid, {"no file name"});
  expect_parts(f.error(external(std::string("w.bin\0x", 7))), ErrorKind::invalid, {"no file name"});
}

TEST(ExternalData, LinksNeedARoot) {
  Folder f;
  write(f.root / "blobs" / "abc", four_floats());
  fs::create_symlink("../../blobs/abc", f.model_dir / "w.bin");
  const auto refused = f.error(external("w.bin"));
  expect_parts(refused, ErrorKind::invalid, {"'w.bin'", "link"});
  EXPECT_NE(refused.hint.find("--external-root"), std::string::npos);

  ImportOptions options;
  options.external_root = f.root;
  EXPECT_EQ(weights_of(*f.load_model(external("w.bin"), options).graph).back(), 4);

  // A root allows what lies below it, and nothing else.
  options.external_root = f.root / "snapshots";
  expect_parts(f.error(external("w.bin"), options), ErrorKind::invalid,
               {"outside --external-root"});
  options.external_root = f.root / "nowhere";
  expect_parts(f.error(external("w.bin"), options), ErrorKind::usage, {"no folder"});
}

TEST(ExternalData, LinkedFoldersNeedARootToo) {
  Folder f;
  write(f.root / "blobs" / "w.bin", four_floats());
  fs::create_directory_symlink(f.root / "blobs", f.model_dir / "sub");
  expect_parts(f.error(external("sub/w.bin")), ErrorKind::invalid, {"link"});
}

TEST(ExternalData, NoRegularFile) {
  Folder f;
  fs::create_directories(f.model_dir / "w.bin");
  EXPECT_EQ(exit_code(f.error(external("w.bin")).kind), 2);
}

// Elements that do not lie at a multiple of their size are copied when they are first wanted
// aligned, and not before.
TEST(Weights, UnalignedOnesAreReadInPlace) {
  const fs::path file = scratch() / "bytes";
  write(file, "x" + four_floats());
  const auto mapped = MappedFile::open(file, 1000);
  const Tensor tensor = tensor_in_file(DataType::f32, {4}, mapped, 1);
  EXPECT_EQ(tensor.in_place(), mapped->data() + 1);
  float value = 0;
  std::memcpy(&value, tensor.in_place() + 4, 4);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(tensor.at_double(2), 3);
  const std::byte* aligned = tensor.data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 4, 0u);
  EXPECT_EQ(tensor.as<float>()[3], 4);
  tensor.release_pages();
  EXPECT_EQ(tensor.data(), aligned);
  EXPECT_EQ(tensor.as<float>()[0], 1);
}

TEST(Weights, AlignedOnesAreViewed) {
  const fs::path file = scratch() / "bytes";
  write(file, "abcd" + four_floats());
  const auto mapped = MappedFile::open(file, 1000);
  const Tensor tensor = tensor_in_file(DataType::f32, {4}, mapped, 4);
  EXPECT_EQ(tensor.data(), mapped->data() + 4);
  Tensor copy = tensor;
  EXPECT_THROW(copy.mutable_data(), Error);
}

TEST(Weights, NeverCopiedByImport) {
  OnnxModel model(17);
  model.input("x", DataType::f32, {std::int64_t{1000}});
  const Tensor w = floats({1000}, std::vector<float>(1000, 0.25F));
  model.initializer("w", w);
  model.node("Constant", {}, {"c"}, {{"value", w}});
  auto* typed = model.proto().add_initializer();
  typed->set_name("t");
  typed->set_data_type(1);
  typed->add_dims(1000);
  for (int i = 0; i < 1000; ++i) typed->add_float_data(0.5F);
  model.node("Sum", {"x", "w", "c", "t"}, {"y"}).output("y");
  const Imported imported = import(model);
  for (const char* name : {"w", "c", "t"}) {
    const Tensor& tensor = *imported.graph->value(*imported.graph->find_value(name)).constant;
    EXPECT_FALSE(tensor.storage()->writable()) << name << " is a copy";
  }
  EXPECT_EQ(imported.info.weight_bytes, 12000);
}

TEST(Sha256, OfKnownTexts) {
  const fs::path file = scratch() / "bytes";
  write(file, "");
  EXPECT_EQ(sha256_of_file(file),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  write(file, "abc");
  EXPECT_EQ(sha256_of_file(file),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  write(file, std::string(1000, 'a'));
  EXPECT_EQ(sha256_of_file(file),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

}  // namespace
}  // namespace concord::importer
