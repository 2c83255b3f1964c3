// Every folder of ONNX's own conformance data imports, and what is inferred of its outputs fits the
// data, except for those in onnx_gaps.txt, which may only become fewer.
#include <algorithm>
#include <fstream>
#include <set>

#include "importer/tensor_io.h"
#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

std::set<std::string> gaps() {
  std::set<std::string> names;
  std::ifstream file(fs::path(CONCORD_SOURCE_DIR) / "tests/importer/onnx_gaps.txt");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

// What contradicts the data; empty if nothing does.
std::string contradiction(const graph::Value& value, const Tensor& tensor) {
  const std::string wanted = std::string(to_string(tensor.dtype())) +
                             to_string(std::span<const std::int64_t>(tensor.shape()));
  const std::string found = std::string(to_string(value.dtype)) +
                            (value.shape ? to_string(std::span<const Dim>(*value.shape)) : "");
  bool fits = value.dtype == tensor.dtype();
  if (value.shape) {
    fits = fits && value.shape->size() == tensor.shape().size();
    for (std::size_t i = 0; fits && i < value.shape->size(); ++i) {
      const auto extent = (*value.shape)[i].constant();
      fits = !extent || *extent == tensor.shape()[i];
    }
  }
  if (fits && value.contents && tensor.dtype() != DataType::string) {
    fits = static_cast<std::int64_t>(value.contents->size()) == tensor.count();
    for (std::size_t i = 0; fits && i < value.contents->size(); ++i) {
      const auto element = (*value.contents)[i].constant();
      fits = !element ||
             static_cast<double>(*element) == tensor.at_double(static_cast<std::int64_t>(i));
    }
  }
  return fits ? "" : "inferred " + found + ", the data is " + wanted;
}

class OnnxFolders : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxFolders, Import) {
  const fs::path root = fs::path(CONCORD_ONNX_TEST_DATA) / GetParam();
  if (!fs::exists(root)) GTEST_SKIP() << root << " is not there";
  const std::set<std::string> known_gaps = gaps();
  int imported = 0;
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path& folder = entry.path();
    if (!fs::exists(folder / "model.onnx")) continue;
    const std::string name = folder.filename();
    try {
      const Imported model = load(folder);
      ++imported;
      EXPECT_FALSE(known_gaps.contains(name)) << name << " imports: take it off onnx_gaps.txt";
      for (const fs::path& set : data_sets(folder)) {
        for (const auto& [output, tensor] : read_outputs(set, *model.graph)) {
          const graph::ValueId id =
              *std::find_if(model.graph->outputs.begin(), model.graph->outputs.end(),
                            [&, &output = output](graph::ValueId o) {
                              return model.graph->value(o).name == output;
                            });
          EXPECT_EQ(contradiction(model.graph->value(id), tensor), "") << name << " " << output;
        }
      }
    } catch (const Error& e) {
      EXPECT_TRUE(known_gaps.contains(name)) << name << ": " << e.what();
      EXPECT_EQ(exit_code(e.kind()), 3) << name << ": " << e.what();
    }
  }
  EXPECT_GT(imported, 0);
}

INSTANTIATE_TEST_SUITE_P(Importer, OnnxFolders,
                         ::testing::Values("node", "simple", "pytorch-converted",
                                           "pytorch-operator"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace concord::importer
