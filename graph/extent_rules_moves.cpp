#include <algorithm>

#include "graph/extent_collector.h"
#include "graph/ops/inference.h"

namespace concord::graph {

void ExtentCollector::concat() {
  const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
  const SymShape* first = shape_(0);
  for (std::size_t i = 1; first != nullptr && i < node_.inputs.size(); ++i) {
    const SymShape* other = shape_(i);
    if (other == nullptr || other->size() != first->size()) continue;
    for (std::size_t d = 0; d < first->size(); ++d) {
      if (d == axis) continue;
      add(Kind::equal, (*first)[d], (*other)[d],
          "axis " + std::to_string(d) + " of inputs 0 and " + std::to_string(i));
    }
  }
}

void ExtentCollector::elements() {
  const SymShape* data = shape_(0);
  if (data == nullptr) return;
  const SymShape* indices = ranked(1, data->size());
  const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
  for (std::size_t d = 0; indices != nullptr && d < data->size(); ++d) {
    if (d == axis) continue;
    add(Kind::at_most, (*indices)[d], (*data)[d],
        "axis " + std::to_string(d) + " of the indices and of the data");
  }
}

void ExtentCollector::scatter_elements() {
  elements();
  same_shape(1, 2, " of the indices and of the updates");
}

void ExtentCollector::gather_nd() {
  const SymShape* data = shape_(0);
  const SymShape* indices = shape_(1);
  const auto batch = static_cast<std::size_t>(node_.attrs.integer("batch_dims"));
  if (data == nullptr || indices == nullptr) return;
  for (std::size_t d = 0; d < std::min({batch, data->size(), indices->size()}); ++d) {
    add(Kind::equal, (*indices)[d], (*data)[d],
        "batch axis " + std::to_string(d) + " of the indices and of the data");
  }
}

void ExtentCollector::scatter_nd() {
  const SymShape* data = shape_(0);
  const SymShape* indices = shape_(1);
  if (data == nullptr || indices == nullptr) return;
  if (indices->empty()) mismatch("indices of rank 1 or more", concord::to_string(*indices));
  const auto width = indices->back().constant();
  if (!width) return;
  if (*width < 1 || *width > static_cast<std::int64_t>(data->size())) {
    mismatch("index tuples of 1 to " + std::to_string(data->size()) + " coordinates",
             std::to_string(*width));
  }
  SymShape wanted(indices->begin(), indices->end() - 1);
  wanted.insert(wanted.end(), data->begin() + static_cast<std::ptrdiff_t>(*width), data->end());
  const SymShape* updates = ranked(2, wanted.size());
  for (std::size_t d = 0; updates != nullptr && d < wanted.size(); ++d) {
    add(Kind::equal, (*updates)[d], wanted[d],
        "axis " + std::to_string(d) + " of the updates and of " + concord::to_string(wanted));
  }
}

void ExtentCollector::reverse_sequence() {
  const SymShape* x = shape_(0);
  const SymShape* lengths = ranked(1, 1);
  const std::int64_t axis = node_.attrs.integer("batch_axis");
  if (x == nullptr || lengths == nullptr || axis < 0 ||
      axis >= static_cast<std::int64_t>(x->size())) {
    return;
  }
  add(Kind::equal, lengths->front(), (*x)[static_cast<std::size_t>(axis)],
      "the lengths and the batch axis of x");
}

void ExtentCollector::split() {
  const SymShape* x = shape_(0);
  const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
  if (x == nullptr || axis >= x->size() || !node_.attrs.has("sizes")) return;
  Dim sum(0);
  for (const Dim& size : node_.attrs.dims("sizes")) {
    add(Kind::at_most, 0, size, "0 and a part");
    sum = sum + size;
  }
  add(Kind::equal, sum, (*x)[axis], "the parts together and the axis");
}

void ExtentCollector::top_k() {
  const SymShape* x = shape_(0);
  const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
  if (x == nullptr || axis >= x->size() || !node_.attrs.has("k")) return;
  const AttrValue& k = *node_.attrs.find("k");
  const auto* dims = std::get_if<SymShape>(&k);
  if (dims == nullptr || dims->size() != 1) return;
  add(Kind::at_most, dims->front(), (*x)[axis], "k and the elements of the axis");
}

}  // namespace concord::graph
