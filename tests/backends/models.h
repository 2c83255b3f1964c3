#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "graph/graph.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"

namespace concord::tests {

inline std::string bundled(const std::string& name) {
  return std::string(CONCORD_SOURCE_DIR "/models/") + name;
}

// Whether a backend starts on this machine.
inline bool starts_here(const std::string& backend) {
  for (const BackendStatus& status : list_backends()) {
    if (status.name == backend) return status.available;
  }
  return false;
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
