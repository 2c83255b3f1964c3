#include "parity/model_part.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "backends/reference/evaluate_graph.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "parity/report.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

// The first elements along every axis.
std::optional<Tensor> leading(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return tensor;
  if (tensor.dtype() == DataType::string || is_sub_byte(tensor.dtype())) return std::nullopt;
  if (shape.size() != tensor.shape().size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > tensor.shape()[i]) return std::nullopt;
  }
  Tensor result(tensor.dtype(), shape);
  const auto size = static_cast<std::size_t>(bits(tensor.dtype()) / 8);
  const Shape strides = contiguous_strides(tensor.shape());
  for (std::int64_t i = 0; i < result.count(); ++i) {
    std::int64_t rest = i;
    std::int64_t from = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += rest % shape[axis] * strides[axis];
      rest /= shape[axis];
    }
    std::copy_n(tensor.in_place() + static_cast<std::size_t>(from) * size, size,
                result.mutable_data() + static_cast<std::size_t>(i) * size);
  }
  return result;
}

}  // namespace

OracleValues::OracleValues(const Graph& imported, const std::vector<Tensor>& inputs,
                           const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "values";
  SpoolWriter writer(file);
  std::map<std::string, nlohmann::json> places;
  reference::GraphOptions options;
  options.on_value = [&](ValueId id, const reference::OracleValue& value) {
    const graph::Value& known = imported.value(id);
    if (known.is_constant() || known.name.empty() || !value.value.defined()) return;
    const Tensor tensor = is_float(value.declared) ? value.rounded() : value.value;
    if (tensor.dtype() == DataType::string) return;
    if (known.shape) static_cast<void>(bind_shape(*known.shape, tensor.shape(), bindings_));
    places[known.name] = writer.add(tensor);
  };
  reference::evaluate_graph(imported, std::span<const Tensor>(inputs), {}, options);
  writer.close();
  const SpoolReader reader(file);
  for (const auto& [name, place] : places) values_[name] = reader.get(place);
}

std::optional<Tensor> OracleValues::find(const std::string& name) const {
  const auto it = values_.find(name);
  return it != values_.end() ? std::optional(it->second) : std::nullopt;
}

PartMaker::PartMaker(std::shared_ptr<const Graph> imported, const WorkerJob& job,
                     const std::vector<Tensor>& inputs, const std::filesystem::path& scratch)
    : imported_(std::move(imported)),
      cutter_(importer::model_file(job.model), job.external_root),
      values_(*imported_, inputs, scratch) {
  for (std::size_t i = 0; i < cutter_.nodes().size(); ++i) {
    for (const std::string& output : cutter_.nodes()[i].outputs) {
      if (!output.empty()) producers_[output] = i;
    }
    for (const std::string& input : cutter_.nodes()[i].inputs) readers_[input].push_back(i);
  }
  for (std::size_t i = 0; i < imported_->value_count(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    if (!imported_->value(id).name.empty()) ids_.emplace(imported_->value(id).name, id);
  }
}

const graph::Value* PartMaker::value(const std::string& name) const {
  const auto it = ids_.find(name);
  return it != ids_.end() ? &imported_->value(it->second) : nullptr;
}

PartMaker::Nodes PartMaker::all() const {
  Nodes nodes;
  for (std::size_t i = 0; i < cutter_.nodes().size(); ++i) {
    if (!cutter_.nodes()[i].is_constant) nodes.insert(i);
  }
  return nodes;
}

// An imported node belongs to the file's node that makes its result, or, if that is a value of its
// converter's own, to the one that makes the next result behind it.
PartMaker::Nodes PartMaker::members(const Graph& optimised, const StepReport& step) const {
  Nodes nodes;
  std::vector<NodeId> sources;
  if (!step.path.empty()) {
    sources = optimised.node(NodeId{step.path.front().first}).sources;
  } else {
    sources = optimised.node(NodeId{step.node}).sources;
  }
  const auto users = imported_->users();
  std::set<NodeId> seen;
  while (!sources.empty()) {
    const NodeId id = sources.back();
    sources.pop_back();
    if (!seen.insert(id).second) continue;
    bool found = false;
    for (const ValueId output : imported_->node(id).outputs) {
      if (!output.valid()) continue;
      const auto it = producers_.find(imported_->value(output).name);
      if (it == producers_.end()) continue;
      nodes.insert(it->second);
      found = true;
    }
    if (found) continue;
    for (const ValueId output : imported_->node(id).outputs) {
      if (!output.valid()) continue;
      const auto& readers = users[static_cast<std::size_t>(output.index)];
      sources.insert(sources.end(), readers.begin(), readers.end());
    }
  }
  return nodes;
}

PartMaker::Nodes PartMaker::grown(const Nodes& nodes) const {
  Nodes result = nodes;
  for (const std::size_t node : nodes) {
    for (const std::string& input : cutter_.nodes()[node].inputs) {
      const auto it = producers_.find(input);
      if (it != producers_.end() && !cutter_.nodes()[it->second].is_constant) {
        result.insert(it->second);
      }
    }
    for (const std::string& output : cutter_.nodes()[node].outputs) {
      const auto it = readers_.find(output);
      if (it != readers_.end()) result.insert(it->second.begin(), it->second.end());
    }
  }
  return result;
}

std::optional<PartMaker::Borders> PartMaker::borders(const Nodes& wanted) const {
  Borders result;
  result.nodes = wanted;
  std::vector<std::size_t> left(wanted.begin(), wanted.end());
  std::set<std::string> inputs;
  while (!left.empty()) {
    const std::size_t node = left.back();
    left.pop_back();
    for (const std::string& name : cutter_.nodes()[node].inputs) {
      if (cutter_.is_weight(name)) continue;
      const auto it = producers_.find(name);
      if (it != producers_.end() && cutter_.nodes()[it->second].is_constant) continue;
      if (it != producers_.end() && result.nodes.contains(it->second)) continue;
      const graph::Value* known = value(name);
      if (known != nullptr && known->is_constant()) {
        // Folded at import: its producers come along.
        known = nullptr;
      }
      if (known != nullptr && values_.find(name)) {
        inputs.insert(name);
        continue;
      }
      if (it == producers_.end()) return std::nullopt;
      result.nodes.insert(it->second);
      left.push_back(it->second);
    }
  }
  for (const std::string& name : inputs) {
    const auto it = producers_.find(name);
    if (it != producers_.end() && result.nodes.contains(it->second)) continue;
    const graph::Value& known = *value(name);
    if (known.contents) {
      result.frozen.push_back(name);
    } else {
      result.inputs.push_back({name, known.dtype, known.shape});
    }
  }
  std::set<std::string> model_outputs;
  for (const ValueId id : imported_->outputs) model_outputs.insert(imported_->value(id).name);
  for (const std::size_t node : result.nodes) {
    for (const std::string& name : cutter_.nodes()[node].outputs) {
      if (name.empty()) continue;
      bool outside = model_outputs.contains(name);
      if (const auto it = readers_.find(name); it != readers_.end()) {
        for (const std::size_t reader : it->second) {
          outside = outside || !result.nodes.contains(reader);
        }
      }
      const graph::Value* known = value(name);
      if (outside && known != nullptr && known->dtype != DataType::undefined) {
        result.outputs.push_back({name, known->dtype, std::nullopt});
      }
    }
  }
  if (result.outputs.empty()) return std::nullopt;
  return result;
}

std::optional<Tensor> PartMaker::sized(const std::string& name, const Bindings& sizes) const {
  const graph::Value& known = *value(name);
  std::optional<Tensor> tensor = values_.find(name);
  if (!tensor) return std::nullopt;
  Bindings bindings = values_.bindings();
  for (const auto& [symbol, extent] : sizes) bindings[symbol] = extent;
  if (known.contents && !sizes.empty() && tensor->dtype() == DataType::i64) {
    const auto numbers = evaluate(*known.contents, bindings);
    if (!numbers) return std::nullopt;
    return Tensor::from_ints(*numbers).reshaped(tensor->shape());
  }
  if (!known.shape || sizes.empty()) return tensor;
  const auto shape = evaluate(*known.shape, bindings);
  if (!shape) return std::nullopt;
  return leading(*tensor, *shape);
}

Bindings PartMaker::symbols(const Nodes& nodes) const {
  Bindings result;
  const auto part = borders(nodes);
  if (!part) return result;
  std::set<std::string> names;
  for (const importer::Border& input : part->inputs) {
    if (!input.shape) continue;
    for (const Dim& dim : *input.shape) dim.collect_symbols(names);
  }
  for (const std::string& name : names) {
    const auto it = values_.bindings().find(name);
    if (it != values_.bindings().end()) result.insert(*it);
  }
  return result;
}

bool PartMaker::write(const Part& wanted, const std::filesystem::path& folder) const {
  auto part = borders(wanted.nodes);
  if (!part) return false;
  std::vector<importer::NamedTensor> frozen;
  for (const std::string& name : part->frozen) {
    const auto tensor = sized(name, wanted.sizes);
    if (!tensor) return false;
    frozen.push_back({name, *tensor});
  }
  const auto data = folder / "test_data_set_0";
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  for (std::size_t i = 0; i < part->inputs.size(); ++i) {
    const auto tensor = sized(part->inputs[i].name, wanted.sizes);
    if (!tensor) return false;
    if (wanted.fixed) {
      part->inputs[i].shape = SymShape(tensor->shape().begin(), tensor->shape().end());
    }
    importer::write_pb(data / ("input_" + std::to_string(i) + ".pb"), *tensor,
                       part->inputs[i].name);
  }
  const std::vector<std::size_t> list(part->nodes.begin(), part->nodes.end());
  cutter_.write(folder / "model.onnx", list, part->inputs, part->outputs, frozen);
  return true;
}

}  // namespace concord::parity
