#pragma once

#include "importer/tensor_io.h"

namespace concord::importer {

// As read_data_set, but for inputs that are not there; one at least is.
DataSet read_some_inputs(const std::filesystem::path& path, const graph::Graph& graph);

}  // namespace concord::importer
