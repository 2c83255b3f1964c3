#include "backends/cpu/compiler.h"

#include <algorithm>

#include "backends/cpu/element.h"
#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/planner.h"
#include "backends/cpu/product_groups.h"

namespace concord::cpu {

using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using graph::ValueId;

Compiler::Compiler(std::shared_ptr<const graph::Graph> graph, const CompileOptions& options)
    : graph_(std::move(graph)), options_(options) {}

ProgramLayout Compiler::compile() {
  number_values();
  find_output_roots();
  find_view_readers();
  if (options_.matmul != MatmulSource::library) group_products(*graph_, layout_);
  count_uses();
  const ThreadScope threads(options_.threads > 0 ? options_.threads : available_threads());
  for (Unit& unit : layout_.units) {
    node_ = &graph_->node(unit.node);
    try {
      unit.plan = unit.prepare ? unit.prepare(*this) : lowering(node_->op).prepare(*this);
    } catch (const Error& error) {
      throw error.with_context(describe(*node_));
    }
  }
  layout_.weight_bytes += weights_.bytes();
  return std::move(layout_);
}

void Compiler::number_values() {
  numbers_.assign(graph_->value_count(), -1);
  layout_.fixed.push_back(nullptr);
  const auto number = [&](ValueId id) {
    if (!id.valid()) return -1;
    int& n = numbers_[static_cast<std::size_t>(id.index)];
    if (n >= 0) return n;
    n = static_cast<int>(layout_.values.size());
    const Value& value = graph_->value(id);
    ValueInfo info;
    info.id = id;
    info.dtype = value.dtype;
    if (value.constant) {
      for (std::int64_t extent : value.constant->shape()) info.shape.push_back({-1, extent});
      info.constant = value.constant;
      info.area = static_cast<std::uint32_t>(layout_.fixed.size());
      // Constants are only read. Where they lie they may be unaligned: see Planner::in_bytes.
      layout_.fixed.push_back(const_cast<std::byte*>(value.constant->in_place()));
    } else {
      info.shape = layout_.dims.add(*value.shape);
    }
    layout_.values.push_back(std::move(info));
    return n;
  };
  for (std::size_t i = 0; i < graph_->inputs.size(); ++i) {
    const int n = number(graph_->inputs[i]);
    layout_.values[static_cast<std::size_t>(n)].input = static_cast<int>(i);
    layout_.graph_inputs.push_back(n);
  }
  for (NodeId id : graph_->order()) {
    const Node& node = graph_->node(id);
    Unit unit;
    unit.node = id;
    for (ValueId input : node.inputs) unit.inputs.push_back(number(input));
    for (ValueId output : node.outputs) unit.outputs.push_back(number(output));
    layout_.units.push_back(std::move(unit));
  }
  for (ValueId output : graph_->outputs) layout_.graph_outputs.push_back(number(output));
}

void Compiler::count_uses() {
  for (const Unit& unit : layout_.units) {
    for (int input : unit.inputs) {
      if (input >= 0) ++layout_.values[static_cast<std::size_t>(input)].uses;
    }
  }
  for (int output : layout_.graph_outputs) {
    ++layout_.values[static_cast<std::size_t>(output)].uses;
  }
}

// A graph output that is a reshape of a value: the value is written where the output lies.
void Compiler::find_output_roots() {
  for (int output : layout_.graph_outputs) {
    layout_.values[static_cast<std::size_t>(output)].is_output = true;
  }
  std::vector<const Unit*> producer(layout_.values.size(), nullptr);
  for (const Unit& unit : layout_.units) {
    for (int output : unit.outputs) {
      if (output >= 0) producer[static_cast<std::size_t>(output)] = &unit;
    }
  }
  for (std::size_t i = 0; i < layout_.graph_outputs.size(); ++i) {
    auto value = static_cast<std::size_t>(layout_.graph_outputs[i]);
    if (layout_.values[value].output >= 0) continue;  // named twice
    while (producer[value] != nullptr) {
      layout_.values[value].output = static_cast<int>(i);
      const Unit& unit = *producer[value];
      if (graph_->node(unit.node).op != OpKind::reshape) break;
      const int source = unit.inputs[0];
      const ValueInfo& info = layout_.values[static_cast<std::size_t>(source)];
      if (info.output >= 0 || info.is_output) break;
      value = static_cast<std::size_t>(source);
    }
  }
}

void Compiler::find_view_readers() {
  for (ValueInfo& info : layout_.values) info.views_only = !info.is_output;
  for (auto unit = layout_.units.rbegin(); unit != layout_.units.rend(); ++unit) {
    const Lowering& how = lowering(graph_->node(unit->node).op);
    const auto reads_view = [&](std::size_t i) {
      if (i < 32 && (how.view_inputs >> i & 1) != 0) return true;
      if (!how.passes_views || i != 0) return false;
      return std::any_of(unit->outputs.begin(), unit->outputs.end(), [&](int output) {
        return output >= 0 && layout_.values[static_cast<std::size_t>(output)].wants_view;
      });
    };
    for (std::size_t i = 0; i < unit->inputs.size(); ++i) {
      if (unit->inputs[i] < 0) continue;
      ValueInfo& info = layout_.values[static_cast<std::size_t>(unit->inputs[i])];
      if (reads_view(i)) {
        info.wants_view = true;
      } else {
        info.views_only = false;
      }
    }
  }
}

const Value& Compiler::value(int input) const {
  return graph_->value(node_->input(static_cast<std::size_t>(input)));
}

const Value& Compiler::out_value(int output) const {
  return graph_->value(node_->output(static_cast<std::size_t>(output)));
}

const Tensor* Compiler::constant(int input) const {
  if (!has(input)) return nullptr;
  const ValueId id = node_->input(static_cast<std::size_t>(input));
  const int number = numbers_[static_cast<std::size_t>(id.index)];
  const ValueInfo& info = layout_.values[static_cast<std::size_t>(number)];
  return info.constant ? &*info.constant : nullptr;
}

PlanFn Compiler::define_constant(Tensor tensor) {
  const ValueId id = node_->output(0);
  const int number = numbers_[static_cast<std::size_t>(id.index)];
  ValueInfo& info = layout_.values[static_cast<std::size_t>(number)];
  info.area = static_cast<std::uint32_t>(layout_.fixed.size());
  layout_.fixed.push_back(tensor.mutable_data());
  layout_.weight_bytes += tensor.bytes();
  info.constant = std::move(tensor);
  return [](Planner& p) { p.kernel("folded"); };
}

std::vector<DimRef> Compiler::dims(std::string_view attribute) {
  return layout_.dims.add(attrs().dims(attribute));
}

std::vector<int> Compiler::integers(std::string_view attribute) const {
  const auto& list = attrs().integers(attribute);
  return {list.begin(), list.end()};
}

Element Compiler::weight_storage(DataType dtype) const {
  switch (options_.precision) {
    case Precision::f32:
      return Element::f32;
    case Precision::bf16:
      return Element::bf16;
    case Precision::f16:
      return Element::f16;
    default:
      // Weights stay in the model's type where that is exact: half the memory traffic.
      return dtype == DataType::f16    ? Element::f16
             : dtype == DataType::bf16 ? Element::bf16
                                       : Element::f32;
  }
}

const float* Compiler::constant_f32(const Tensor& tensor) {
  if (tensor.dtype() == DataType::f32) return reinterpret_cast<const float*>(tensor.data());
  const auto count = static_cast<std::size_t>(tensor.count());
  auto copy = std::make_shared<AlignedBuffer>(std::max<std::size_t>(4, count * sizeof(float)));
  convert(element(tensor.dtype()), tensor.data(), Element::f32, copy->data(), tensor.count());
  const float* data = copy->as<float>();
  layout_.weight_bytes += tensor.count() * 4;
  keep(std::move(copy));
  return data;
}

}  // namespace concord::cpu
