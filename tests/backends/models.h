#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"

namespace concord::tests {

inline std::string bundled(const std::string& name) {
  return std::string(CONCORD_SOURCE_DIR "/models/") + name;
}

// The inputs of a bundled model's data set, in the model's order.
inline std::vector<Tensor> data_set(const std::string& model, const graph::Graph& graph,
                                    int number) {
  const importer::DataSet set =
      importer::read_data_set(bundled(model) + "/test_data_set_" + std::to_string(number), graph);
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph.inputs)
    inputs.push_back(set.inputs.at(graph.value(id).name));
  return inputs;
}

}  // namespace concord::tests
