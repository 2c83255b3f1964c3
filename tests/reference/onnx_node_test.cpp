// The oracle gives the expected outputs of every folder of ONNX's conformance data that imports.
// (What does not import is the importer's list of gaps.)
#include <algorithm>
#include <filesystem>
#include <map>

#include "backends/reference/evaluate_graph.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/conformance.h"
#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

namespace fs = std::filesystem;

// Folders whose data the oracle contradicts, and why it is right all the same.
const std::map<std::string, std::string> kGaps = {
    {"test_dynamicquantizelinear",
     "−2.5 / (5/255) is −127.5, which rounds to −128; the data rounds 5/255 to float32 first"},
    {"test_dynamicquantizelinear_expanded", "the same"},
    {"test_bernoulli", "random numbers, the data's are another generator's"},
    {"test_bernoulli_double", "the same"},
    {"test_bernoulli_double_expanded", "the same"},
    {"test_bernoulli_expanded", "the same"},
    {"test_bernoulli_seed", "the same"},
    {"test_bernoulli_seed_expanded", "the same"},
    {"test_training_dropout", "the same"},
    {"test_training_dropout_default", "the same"},
    {"test_training_dropout_default_mask", "the same"},
    {"test_training_dropout_mask", "the same"},
    {"test_dft_inverse", "float32 noise of 1.9e-7 where the exact answer is 0"},
    {"test_dft_inverse_opset19", "the same"},
};

// What is wrong with the first data set whose outputs differ; empty if none is.
std::string contradiction(const fs::path& folder, const graph::Graph& graph) {
  for (const fs::path& set : importer::data_sets(folder)) {
    const importer::DataSet data = importer::read_data_set(set, graph);
    std::vector<Tensor> inputs;
    for (const graph::ValueId id : graph.inputs)
      inputs.push_back(data.inputs.at(graph.value(id).name));
    const auto outputs = reference::evaluate_graph(graph, inputs, {});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = graph.value(graph.outputs[i]).name;
      const auto expected = data.outputs.find(name);
      if (expected == data.outputs.end()) continue;
      const std::string problem = parity::difference(outputs[i].rounded(), expected->second);
      if (!problem.empty()) return name + ": " + problem;
    }
  }
  return "";
}

class OnnxData : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxData, OracleAgrees) {
  const fs::path root = fs::path(CONCORD_ONNX_TEST_DATA) / GetParam();
  if (!fs::exists(root)) GTEST_SKIP() << root << " is not there";
  int ran = 0;
  for (const fs::path& folder : parity::model_folders(root)) {
    const std::string name = folder.filename();
    importer::Imported model;
    try {
      model = importer::load(folder);
    } catch (const Error&) {
      continue;
    }
    ++ran;
    std::string problem;
    try {
      problem = contradiction(folder, *model.graph);
    } catch (const Error& error) {
      problem = error.what();
    }
    const auto gap = kGaps.find(name);
    if (gap == kGaps.end()) {
      EXPECT_EQ(problem, "") << name;
    } else {
      EXPECT_NE(problem, "") << name << " agrees: take it off the list of gaps";
    }
  }
  EXPECT_GT(ran, 0);
  RecordProperty("folders", ran);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxData,
                         ::testing::Values("node", "simple", "pytorch-operator",
                                           "pytorch-converted"),
                         [](const auto& suite) {
                           std::string name = suite.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace concord::test
