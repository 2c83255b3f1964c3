#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace concord::host {

// A copy of `data` with runs of `length` elements of `updates` put at, or combined with, each of
// `offsets`, in order. Sums and products of floats are not the host's.
Tensor scatter(const Tensor& data, const std::vector<std::int64_t>& offsets, std::int64_t length,
               const Tensor& updates, const std::string& reduction);

std::optional<std::string> why_no_scatter(const graph::Graph& graph, const graph::Node& node);

}  // namespace concord::host
