#include "importer/model_cutter.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "backends/reference/evaluate_graph.h"
#include "importer/importer.h"

namespace concord::importer {
namespace {

class CutterTest : public ::testing::Test {
 protected:
  CutterTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cut-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CutterTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

// The last node of a model, alone, computes what it computes in it.
TEST_F(CutterTest, OneNodeAlone) {
  const std::string model = CONCORD_SOURCE_DIR "/models/mobilenet_s__dynamo20";
  const ModelCutter cutter(model_file(model));
  const auto whole = load(model).graph;
  const FileNode& last = cutter.nodes().back();
  std::vector<Border> inputs;
  for (const std::string& name : last.inputs) {
    if (cutter.is_weight(name)) continue;
    const graph::Value& value = whole->value(*whole->find_value(name));
    inputs.push_back({name, value.dtype, value.shape});
  }
  ASSERT_EQ(inputs.size(), 1u);
  const Border output{last.outputs[0], DataType::f32, std::nullopt};
  const std::size_t index = cutter.nodes().size() - 1;
  cutter.write(folder_ / "model.onnx", std::span(&index, 1), inputs, std::span(&output, 1), {});
  const Imported part = load(folder_);
  ASSERT_EQ(part.graph->inputs.size(), 1u);
  EXPECT_EQ(part.graph->value(part.graph->inputs[0]).name, inputs[0].name);
  EXPECT_EQ(part.graph->value(part.graph->outputs[0]).name, last.outputs[0]);

  const DataSet set = read_data_set(std::string(model) + "/test_data_set_0", *whole);
  std::vector<Tensor> given;
  for (const graph::ValueId id : whole->inputs) {
    given.push_back(set.inputs.at(whole->value(id).name));
  }
  Tensor before;
  reference::GraphOptions options;
  options.on_value = [&](graph::ValueId id, const reference::OracleValue& value) {
    if (whole->value(id).name == inputs[0].name) before = value.rounded();
  };
  const auto wanted =
      reference::evaluate_graph(*whole, std::span<const Tensor>(given), {}, options);
  const auto got = reference::evaluate_graph(*part.graph, std::span<const Tensor>(&before, 1), {});
  ASSERT_EQ(got[0].value.shape(), wanted[0].value.shape());
  for (std::int64_t i = 0; i < got[0].value.count(); ++i) {
    ASSERT_NEAR(got[0].value.at_double(i), wanted[0].value.at_double(i), 1e-4);
  }
}

// A value that is frozen is a weight of the part.
TEST_F(CutterTest, FrozenValues) {
  const std::string model = CONCORD_SOURCE_DIR "/models/mobilenet_s__dynamo20";
  const ModelCutter cutter(model_file(model));
  const FileNode& last = cutter.nodes().back();
  std::vector<NamedTensor> frozen;
  const auto whole = load(model).graph;
  for (const std::string& name : last.inputs) {
    if (cutter.is_weight(name)) continue;
    const auto& shape = *whole->value(*whole->find_value(name)).shape;
    Shape extents;
    for (const Dim& dim : shape) extents.push_back(dim.constant().value_or(1));
    frozen.push_back({name, Tensor::zeros(DataType::f32, extents)});
  }
  const Border output{last.outputs[0], DataType::f32, std::nullopt};
  const std::size_t index = cutter.nodes().size() - 1;
  cutter.write(folder_ / "model.onnx", std::span(&index, 1), {}, std::span(&output, 1), frozen);
  EXPECT_TRUE(load(folder_).graph->inputs.empty());
}

}  // namespace
}  // namespace concord::importer
