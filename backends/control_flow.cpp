#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/executor.h"
#include "graph/error.h"

namespace concord {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

bool truth(const Tensor& tensor, const Node& node, const char* what) {
  if (tensor.count() != 1) {
    throw Error(ErrorKind::invalid, graph::describe(node) + ": " + what + " has " +
                                        std::to_string(tensor.count()) +
                                        " elements, one is wanted");
  }
  return tensor.at_int(0) != 0;
}

// The tensors along a new first axis, or, for `axis`, along that one.
Tensor stack(const std::vector<Tensor>& items, std::int64_t axis, DataType dtype,
             const Shape& item_shape, bool reversed) {
  Shape shape = item_shape;
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(items.size()));
  Tensor result(dtype, shape);
  std::int64_t outer = 1;
  for (std::int64_t i = 0; i < axis; ++i) outer *= item_shape[static_cast<std::size_t>(i)];
  for (std::size_t n = 0; n < items.size(); ++n) {
    const Tensor& item = items[reversed ? items.size() - 1 - n : n];
    if (item.shape() != item_shape) {
      throw Error(ErrorKind::invalid, "scan output changes its shape from " +
                                          to_string(item_shape) + " to " + to_string(item.shape()));
    }
    if (dtype == DataType::string) {
      const auto from = item.strings();
      const auto to = result.mutable_strings();
      const std::size_t inner =
          from.size() / static_cast<std::size_t>(std::max<std::int64_t>(outer, 1));
      for (std::size_t o = 0; o < static_cast<std::size_t>(outer); ++o) {
        for (std::size_t k = 0; k < inner; ++k) {
          to[(o * items.size() + n) * inner + k] = from[o * inner + k];
        }
      }
      continue;
    }
    const std::int64_t inner = outer == 0 ? 0 : item.bytes() / outer;
    for (std::int64_t o = 0; o < outer && inner > 0; ++o) {
      std::memcpy(
          result.mutable_data() +
              (o * static_cast<std::int64_t>(items.size()) + static_cast<std::int64_t>(n)) * inner,
          item.data() + o * inner, static_cast<std::size_t>(inner));
    }
  }
  return result;
}

// Element `index` of the axis, without the axis.
Tensor pick(const Tensor& tensor, std::int64_t axis, std::int64_t index) {
  Shape shape = tensor.shape();
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  std::int64_t outer = 1;
  for (std::int64_t i = 0; i < axis; ++i) outer *= shape[static_cast<std::size_t>(i)];
  shape.erase(shape.begin() + axis);
  Tensor result(tensor.dtype(), shape);
  if (tensor.dtype() == DataType::string) {
    const auto from = tensor.strings();
    const auto to = result.mutable_strings();
    const std::int64_t inner = outer == 0 ? 0 : result.count() / outer;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t k = 0; k < inner; ++k) {
        to[static_cast<std::size_t>(o * inner + k)] =
            from[static_cast<std::size_t>((o * extent + index) * inner + k)];
      }
    }
    return result;
  }
  const std::int64_t inner = outer == 0 ? 0 : result.bytes() / outer;
  for (std::int64_t o = 0; o < outer && inner > 0; ++o) {
    std::memcpy(result.mutable_data() + o * inner, tensor.data() + (o * extent + index) * inner,
                static_cast<std::size_t>(inner));
  }
  return result;
}

// The shape of one iteration's output when there was no iteration: what is known statically, else
// 0.
Shape empty_item_shape(const Graph& body, ValueId output, const Bindings& bindings) {
  Shape shape;
  if (!body.value(output).shape) return shape;
  for (const Dim& dim : *body.value(output).shape) {
    shape.push_back(dim.evaluate(bindings).value_or(0));
  }
  return shape;
}

}  // namespace

std::vector<Tensor> Executor::run_body(NodeId id, std::size_t which, std::vector<Tensor> inputs,
                                       const Frame& frame, const RunOptions& options) const {
  const Executor& body = *bodies_[static_cast<std::size_t>(id.index)].at(which);
  RunOptions inner = options;
  inner.taps = options.taps != nullptr ? options.taps->body(id, which) : nullptr;
  inner.path.emplace_back(id.index, static_cast<int>(which));
  Bindings bindings = frame.bindings;
  // A body's own dynamic extents are bound afresh by each of its runs.
  for (const ValueId input : body.graph().inputs) {
    if (!body.graph().value(input).shape) continue;
    for (const Dim& dim : *body.graph().value(input).shape) {
      const auto name = dim.symbol_name();
      if (name && (*name)[0] == '?') bindings.erase(*name);
    }
  }
  return body.run(inputs, std::move(bindings), inner);
}

void Executor::run_if(NodeId id, Frame& frame, const RunOptions& options) const {
  const Node& node = graph_->node(id);
  const bool condition = truth(fetch(node.inputs.at(0), frame), node, "the condition");
  std::vector<Tensor> captured;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    captured.push_back(fetch(node.inputs[i], frame));
  std::vector<Tensor> outputs =
      run_body(id, condition ? 0 : 1, std::move(captured), frame, options);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    store(node.outputs[i], std::move(outputs[i]), frame, options);
  }
}

void Executor::run_loop(NodeId id, Frame& frame, const RunOptions& options) const {
  const Node& node = graph_->node(id);
  const auto carried = static_cast<std::size_t>(node.attrs.integer("carried"));
  const Graph& body = node.bodies.at(0);
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (node.has_input(0)) {
    const Tensor& limit = fetch(node.inputs[0], frame);
    if (limit.count() != 1) {
      throw Error(ErrorKind::invalid, graph::describe(node) + ": the trip count is not one number");
    }
    trips = limit.at_int(0);
  }
  bool condition = !node.has_input(1) || truth(fetch(node.inputs[1], frame), node, "the condition");
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(fetch(node.inputs[2 + i], frame));
  std::vector<Tensor> captured;
  for (std::size_t i = 2 + carried; i < node.inputs.size(); ++i) {
    captured.push_back(fetch(node.inputs[i], frame));
  }
  std::vector<std::vector<Tensor>> scanned(body.outputs.size() - 1 - carried);
  for (std::int64_t trip = 0; trip < trips && condition; ++trip) {
    std::vector<Tensor> inputs = {Tensor::scalar<std::int64_t>(trip), Tensor::scalar<bool>(true)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    std::vector<Tensor> outputs = run_body(id, 0, std::move(inputs), frame, options);
    condition = truth(outputs[0], node, "the body's condition");
    for (std::size_t i = 0; i < carried; ++i) state[i] = std::move(outputs[1 + i]);
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(std::move(outputs[1 + carried + i]));
    }
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i < carried) {
      store(node.outputs[i], std::move(state[i]), frame, options);
      continue;
    }
    const ValueId source = body.outputs[1 + i];
    const auto& items = scanned[i - carried];
    const Shape item =
        items.empty() ? empty_item_shape(body, source, frame.bindings) : items.front().shape();
    store(node.outputs[i], stack(items, 0, body.value(source).dtype, item, false), frame, options);
  }
}

void Executor::run_scan(NodeId id, Frame& frame, const RunOptions& options) const {
  const Node& node = graph_->node(id);
  const Graph& body = node.bodies.at(0);
  const auto states = static_cast<std::size_t>(node.attrs.integer("states"));
  const auto scans = static_cast<std::size_t>(node.attrs.integer("scans"));
  const auto& axes = node.attrs.integers("axes");              // inputs, then outputs
  const auto& directions = node.attrs.integers("directions");  // inputs, then outputs
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(fetch(node.inputs[i], frame));
  std::int64_t length = -1;
  for (std::size_t i = 0; i < scans; ++i) {
    const Tensor& tensor = fetch(node.inputs[states + i], frame);
    const std::int64_t extent = tensor.shape().at(static_cast<std::size_t>(axes[i]));
    if (length >= 0 && extent != length) {
      throw Error(ErrorKind::invalid, graph::describe(node) + ": scanned inputs have lengths " +
                                          std::to_string(length) + " and " +
                                          std::to_string(extent));
    }
    length = extent;
  }
  std::vector<std::vector<Tensor>> scanned(body.outputs.size() - states);
  for (std::int64_t step = 0; step < length; ++step) {
    std::vector<Tensor> inputs = state;
    for (std::size_t i = 0; i < scans; ++i) {
      inputs.push_back(pick(fetch(node.inputs[states + i], frame), axes[i],
                            directions[i] != 0 ? length - 1 - step : step));
    }
    for (std::size_t i = states + scans; i < node.inputs.size(); ++i) {
      inputs.push_back(fetch(node.inputs[i], frame));
    }
    std::vector<Tensor> outputs = run_body(id, 0, std::move(inputs), frame, options);
    for (std::size_t i = 0; i < states; ++i) state[i] = std::move(outputs[i]);
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(std::move(outputs[states + i]));
    }
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i < states) {
      store(node.outputs[i], std::move(state[i]), frame, options);
      continue;
    }
    const std::size_t k = i - states;
    const ValueId source = body.outputs[i];
    const Shape item = scanned[k].empty() ? empty_item_shape(body, source, frame.bindings)
                                          : scanned[k].front().shape();
    store(node.outputs[i],
          stack(scanned[k], axes[scans + k], body.value(source).dtype, item,
                directions[scans + k] != 0),
          frame, options);
  }
}

}  // namespace concord
