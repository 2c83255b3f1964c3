#include "graph/error.h"
#include "graph/schema.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "tests/graph/graph_case.h"

namespace concord::graph {
namespace {

namespace fs = std::filesystem;

// ONNX's own folders: many small graphs, functions expanded into their parts among them. Whatever
// passes find in them, the result stays the same.
TEST(Conformance, OptimisedGraphsGiveTheSame) {
  const fs::path root(CONCORD_ONNX_TEST_DATA);
  if (!fs::is_directory(root)) GTEST_SKIP() << "no conformance data in " << root;
  int same = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "model.onnx") continue;
    const fs::path folder = entry.path().parent_path();
    SCOPED_TRACE(folder.filename().string());
    std::shared_ptr<const Graph> imported;
    try {
      imported = importer::load(folder).graph;
    } catch (const Error&) {
      continue;  // what cannot be imported is the importer's tests' concern
    }
    verify(*imported);
    const Graph optimised = optimise(*imported, folding());
    verify(optimised);
    Graph again = optimised;
    infer(again);
    EXPECT_EQ(dump(optimised), dump(again));
    bool half = false;
    for (std::size_t i = 0; i < imported->value_count(); ++i) {
      const DataType type = imported->value(ValueId{static_cast<std::int32_t>(i)}).dtype;
      half = half || type == DataType::f16 || type == DataType::bf16;
    }
    for (const fs::path& set : importer::data_sets(folder)) {
      std::vector<Tensor> inputs;
      try {
        const auto data = importer::read_data_set(set, *imported);
        for (const ValueId id : imported->inputs) {
          inputs.push_back(data.inputs.at(imported->value(id).name));
        }
        reference::evaluate_graph(*imported, inputs, {});
      } catch (const std::exception&) {
        continue;  // a type or operator that the oracle lacks
      }
      // Factors that were rounded to 16 bits are joined before they are rounded.
      expect_same(*imported, optimised, inputs, half ? 1e-3 : 1e-5);
      ++same;
    }
  }
  EXPECT_GT(same, 1000);
}

}  // namespace
}  // namespace concord::graph
