// Models that exporters rarely write: inputs of any rank, complex numbers, nothing to compare.
#include <cstring>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "tests/importer/onnx_model.h"
#include "tests/tools/expect_error.h"

namespace concord::tests {
namespace {

using importer::OnnxModel;
using nlohmann::json;

bool vulkan_starts() {
  for (const BackendStatus& status : list_backends()) {
    if (status.name == "vulkan") return status.available;
  }
  return false;
}

// A folder with model.onnx, whose input x has a type and no shape.
std::string without_shape(const TemporaryFolder& folder, OnnxModel model, DataType dtype) {
  auto* x = model.proto().add_input();
  x->set_name("x");
  x->mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(dtype));
  model.output("y");
  return folder.write("model.onnx", model.bytes());
}

void write_tensor(const TemporaryFolder& folder, const std::string& file, const Tensor& tensor) {
  folder.write(file, importer::tensor_proto("x", tensor).SerializeAsString());
}

Tensor ramp(Shape shape) {
  Tensor tensor(DataType::f32, std::move(shape));
  float next = 0;
  for (float& v : tensor.as_mutable<float>()) v = (next += 0.125F);
  return tensor;
}

OnnxModel exp_relu() {
  OnnxModel model(18);
  model.node("Exp", {"x"}, {"e"}).node("Relu", {"e"}, {"y"});
  return model;
}

TEST(AnyRank, RunAndParityTellTheGraphThatRan) {
  const TemporaryFolder folder;
  const std::string model = without_shape(folder, exp_relu(), DataType::f32);
  write_tensor(folder, "data/input_0.pb", ramp({2, 3}));
  const std::string data = (folder.path() / "data").string();
  const std::string profile = (folder.path() / "profile.json").string();
  const Outcome run =
      concord({"run", model, "--backend", "cpu", "--inputs", data, "--profile", profile});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_NE(read_file(profile).find("elementwise"), std::string::npos);
  const Outcome parity = concord({"parity", model, "--backends", "cpu", "--inputs", data,
                                  "--per-step", "--toggle", "--seconds", "0", "--json", "-"});
  ASSERT_EQ(parity.exit, 0) << parity.out << parity.err;
  const json one = json::parse(parity.out).at("cases").at(0);
  const json& participant = one.at("participants").at(0);
  ASSERT_FALSE(participant.at("steps").empty());
  for (const json& step : participant.at("steps")) EXPECT_NE(step.at("op"), "");
  const Outcome bench = concord({"bench", model, "--backends", "cpu", "--inputs", data, "--seconds",
                                 "0", "--per-step", "--profile", profile});
  EXPECT_EQ(bench.exit, 0) << bench.err;
  expect_error(concord({"inspect", model, "--backend", "cpu"}), 2, {"'x'", "rank"});
}

TEST(AnyRank, DataSetsOfSeveralRanks) {
  const TemporaryFolder folder;
  without_shape(folder, exp_relu(), DataType::f32);
  const std::vector<Shape> shapes = {{4}, {2, 3}, {2, 1, 2}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tensor x = ramp(shapes[i]);
    Tensor y(DataType::f32, shapes[i]);
    for (std::size_t k = 0; k < y.as<float>().size(); ++k) {
      y.as_mutable<float>()[k] = std::exp(x.as<float>()[k]);
    }
    const std::string set = "test_data_set_" + std::to_string(i) + "/";
    write_tensor(folder, set + "input_0.pb", x);
    folder.write(set + "output_0.pb", importer::tensor_proto("y", y).SerializeAsString());
  }
  const std::string path = folder.path().string();
  const Outcome parity =
      concord({"parity", path, "--backends", "cpu", "--per-step", "--seconds", "0"});
  EXPECT_EQ(parity.exit, 0) << parity.out << parity.err;
  const Outcome conformance = concord({"conformance", path, "--backend", "cpu"});
  EXPECT_EQ(conformance.exit, 0) << conformance.out << conformance.err;
}

TEST(AnyRank, FallbackIsToldAndRefused) {
  if (!vulkan_starts()) GTEST_SKIP() << "vulkan does not start here";
  const TemporaryFolder folder;
  OnnxModel random(18);  // which no GPU has a kernel for
  random.node("RandomUniformLike", {"x"}, {"y"});
  const std::string model = without_shape(folder, std::move(random), DataType::f32);
  write_tensor(folder, "data/input_0.pb", ramp({3, 3}));
  const std::string data = (folder.path() / "data").string();
  const Outcome told = concord({"run", model, "--backend", "vulkan", "--inputs", data});
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_NE(told.err.find("1 node(s) run on the CPU"), std::string::npos) << told.err;
  expect_error(
      concord({"run", model, "--backend", "vulkan", "--inputs", data, "--no-fallback", "--quiet"}),
      3, {"fallback is refused", "RandomUniformLike"});
  const Outcome parity = concord({"parity", model, "--backends", "vulkan", "--inputs", data,
                                  "--no-fallback", "--seconds", "0"});
  EXPECT_EQ(parity.exit, 3) << parity.out << parity.err;
}

TEST(ComplexNumbers, AreSummarisedAndCompared) {
  for (const DataType dtype : {DataType::c64, DataType::c128}) {
    const TemporaryFolder folder;
    OnnxModel model(18);
    model.input("x", dtype, {4}).output("y");
    model.node("Identity", {"x"}, {"y"});
    const std::string path = folder.write("model.onnx", model.bytes());
    Tensor x = Tensor::zeros(dtype, {4});
    const double wide[] = {-8, 0, 0, 0, 0, 0, 0, 16};
    const float narrow[] = {-8, 0, 0, 0, 0, 0, 0, 16};
    std::memcpy(
        x.mutable_data(),
        dtype == DataType::c64 ? static_cast<const void*>(narrow) : static_cast<const void*>(wide),
        static_cast<std::size_t>(x.bytes()));
    write_tensor(folder, "data/input_0.pb", x);
    const std::string data = (folder.path() / "data").string();
    const Outcome run = concord({"run", path, "--backend", "cpu", "--inputs", data});
    ASSERT_EQ(run.exit, 0) << run.err;
    EXPECT_NE(run.out.find("[4], -8 to 16"), std::string::npos) << run.out;
    const Outcome parity = concord({"parity", path, "--backends", "cpu", "--inputs", data,
                                    "--per-step", "--repeat", "1", "--seconds", "0"});
    EXPECT_EQ(parity.exit, 0) << parity.out << parity.err;
  }
}

TEST(Conformance, AFolderThatComparesNothingFails) {
  const TemporaryFolder folder;
  OnnxModel model = exp_relu();
  model.input("x", DataType::f32, {2}).output("y");
  folder.write("model.onnx", model.bytes());
  write_tensor(folder, "test_data_set_0/input_0.pb", ramp({2}));
  const Outcome outcome = concord({"conformance", folder.path().string(), "--backend", "cpu"});
  EXPECT_EQ(outcome.exit, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("compared nothing"), std::string::npos) << outcome.out;
}

// What ends one model's comparison need not be an error of ours.
TEST(Parity, OneModelThatFindsNoMemoryLeavesTheOthers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer itself needs more memory";
#endif
  const TemporaryFolder folder;
  OnnxModel large(18);
  large.input("x", DataType::string, {std::int64_t{10'000'000}}).output("y");
  large.node("Identity", {"x"}, {"y"});
  OnnxModel small = exp_relu();
  small.input("x", DataType::f32, {2}).output("y");
  const Outcome outcome = concord({"parity", folder.write("large.onnx", large.bytes()),
                                   folder.write("small.onnx", small.bytes()), "--backends",
                                   "reference", "--seconds", "0", "--json", "-"},
                                  "ulimit -v 200000;");
  EXPECT_EQ(outcome.exit, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("out of memory"), std::string::npos) << outcome.err;
  const json models = json::parse(outcome.out).at("models");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models.at(1).at("verdict"), "agrees");
}

// x has no elements on the axis that is resized.
TEST(Resize, NothingCannotBeResizedToSomething) {
  const TemporaryFolder folder;
  OnnxModel model(18);
  model.input("x", DataType::f32, {1, 1, 0, 4}).output("y");
  model.initializer("sizes", Tensor::from_ints(std::vector<std::int64_t>{1, 1, 3, 4}));
  model.node("Resize", {"x", "", "", "sizes"}, {"y"});
  const std::string path = folder.write("model.onnx", model.bytes());
  for (const char* backend : {"cpu", "reference"}) {
    expect_error(concord({"run", path, "--backend", backend, "--quiet"}), 2,
                 {"elements", "resized"});
  }
}

}  // namespace
}  // namespace concord::tests
