#include "backends/gpu/lowering.h"

#include <utility>

#include "backends/gpu/convert.h"
#include "backends/gpu/device_error.h"
#include "backends/gpu/fault_words.h"
#include "backends/gpu/lower/narrow.h"
#include "graph/error.h"
#include "graph/operand_errors.h"

namespace concord::gpu {

const Lowering& lowering(graph::OpKind op) {
  static const Lowering* const table[] = {
#define CONCORD_OP(name) &gpu_##name,
#include "graph/ops.def"
#undef CONCORD_OP
  };
  return *table[static_cast<std::size_t>(op)];
}

namespace {

DataType stored(const graph::Graph& graph, graph::ValueId id, Precision precision) {
  if (!id.valid()) return DataType::undefined;
  return storage_type(graph.value(id).dtype, precision).value_or(DataType::undefined);
}

}  // namespace

DataType Query::in(std::size_t i) const {
  return stored(graph, node.input(i), precision);
}
DataType Query::out(std::size_t i) const {
  return stored(graph, node.output(i), precision);
}
DataType Query::in_dtype(std::size_t i) const {
  return node.has_input(i) ? graph.value(node.input(i)).dtype : DataType::undefined;
}
DataType Query::out_dtype(std::size_t i) const {
  return node.output(i).valid() ? graph.value(node.output(i)).dtype : DataType::undefined;
}
std::string Query::in_suffix(std::size_t i) const {
  return type_suffix(in(i));
}

std::int64_t Query::in_rank(std::size_t i) const {
  if (!node.has_input(i)) return -1;
  const auto& shape = graph.value(node.input(i)).shape;
  return shape.has_value() ? static_cast<std::int64_t>(shape->size()) : -1;
}

std::optional<std::string> Query::need_kernel(const std::string& name) const {
  const Kernel* kernel = find_kernel(name);
  if (kernel == nullptr) return "there is no kernel " + name;
  const std::string missing = missing_for(*kernel, properties);
  if (missing.empty()) return std::nullopt;
  return "kernel " + name + ": " + missing;
}

std::optional<std::string> why_unsupported(const Query& query) {
  const auto check = [&](const std::vector<graph::ValueId>& ids) -> std::optional<std::string> {
    for (const graph::ValueId id : ids) {
      if (!id.valid()) continue;
      const graph::Value& value = query.graph.value(id);
      const DataType storage = stored(query.graph, id, query.precision);
      if (storage != DataType::undefined) {
        if (!value.is_constant()) continue;
        if (auto reason = why_not_stored(*value.constant)) return reason;
        continue;
      }
      return "type " + std::string(to_string(value.dtype)) + " is not kept on the device";
    }
    return std::nullopt;
  };
  if (auto reason = check(query.node.inputs)) return reason;
  if (auto reason = check(query.node.outputs)) return reason;
  return lowering(query.node.op).why_unsupported(query);
}

NodeLowering::NodeLowering(PlanDraft& draft, Device& device, Weights& weights,
                           const graph::Graph& graph, const graph::Node& node,
                           const Bindings& bindings, Precision precision)
    : draft_(draft),
      device_(device),
      weights_(weights),
      graph_(graph),
      node_(node),
      bindings_(bindings),
      precision_(precision) {}

Shape NodeLowering::evaluate(std::span<const Dim> shape) const {
  Shape extents;
  for (const Dim& dim : shape) {
    const auto extent = dim.evaluate(bindings_);
    if (!extent) throw graph::no_value(dim, bindings_);
    extents.push_back(*extent);
  }
  return extents;
}

Shape NodeLowering::shape_of(graph::ValueId id) const {
  const graph::Value& value = graph_.value(id);
  if (value.is_constant()) return value.constant->shape();
  if (!value.shape.has_value()) {
    throw Error(ErrorKind::failed, "the shape of " + value.name + " is not known");
  }
  Shape shape = evaluate(*value.shape);
  static_cast<void>(element_count(shape));  // refuses what cannot be
  return shape;
}

DataType NodeLowering::type_of(graph::ValueId id) const {
  return storage_type(graph_.value(id).dtype, precision_).value_or(DataType::undefined);
}

Shape NodeLowering::dims(std::string_view attribute) const {
  return evaluate(attrs().dims(attribute));
}

std::optional<std::vector<std::int64_t>> NodeLowering::known(std::size_t i) const {
  const graph::Value& value = graph_.value(node_.input(i));
  if (value.is_constant()) return value.constant->ints();
  if (!value.contents.has_value()) return std::nullopt;
  return concord::evaluate(*value.contents, bindings_);
}

bool NodeLowering::is_constant(std::size_t i) const {
  return has(i) && graph_.value(node_.input(i)).is_constant();
}

const Tensor& NodeLowering::constant(std::size_t i) const {
  return graph_.value(node_.input(i)).constant.value();
}

Operand NodeLowering::in(std::size_t i) {
  const graph::ValueId id = node_.input(i);
  Operand& known_operand = draft_.values[static_cast<std::size_t>(id.index)];
  if (known_operand.defined()) return known_operand;
  const graph::Value& value = graph_.value(id);
  if (!value.is_constant()) {
    throw Error(ErrorKind::failed, "value " + value.name + " is used before it is computed");
  }
  const DataType dtype = type_of(id);
  Operand operand = packed(i, type_suffix(dtype), dtype, value.constant->shape(),
                           [dtype](const Tensor& tensor, std::span<std::byte> target) {
                             to_storage(tensor, dtype, target);
                           });
  known_operand = operand;
  return operand;
}

Operand NodeLowering::packed(std::size_t i, const std::string& arrangement, DataType dtype,
                             Shape shape, const Weights::Pack& pack) {
  const auto bytes = static_cast<std::size_t>(storage_bytes(dtype, element_count(shape)));
  const Memory& memory = weights_.get(node_.input(i), arrangement, bytes, pack);
  return {draft_.add_fixed(memory), 0, dtype, std::move(shape)};
}

Operand NodeLowering::out(std::size_t i) {
  const graph::ValueId id = node_.output(i);
  Operand& operand = draft_.values[static_cast<std::size_t>(id.index)];
  if (!operand.defined()) {
    operand = temporary(type_of(id), shape_of(id));
    written_.push_back(i);
  }
  return operand;
}

namespace {

// Operators whose results are elements of their operands, or numbers that fit their type anyway.
bool leaves_numbers_alone(graph::OpKind op) {
  using graph::OpKind;
  switch (op) {
    case OpKind::arg_reduce:
    case OpKind::broadcast:
    case OpKind::cast:
    case OpKind::concat:
    case OpKind::constant_of:
    case OpKind::dims:
    case OpKind::dynamic_quantize:
    case OpKind::eye_like:
    case OpKind::gather:
    case OpKind::gather_elements:
    case OpKind::gather_nd:
    case OpKind::one_hot:
    case OpKind::pad:
    case OpKind::quantize:
    case OpKind::reshape:
    case OpKind::reverse_sequence:
    case OpKind::select:
    case OpKind::shape_of:
    case OpKind::slice:
    case OpKind::split:
    case OpKind::tile:
    case OpKind::top_k:
    case OpKind::transpose:
    case OpKind::trilu:
      return true;
    default:
      return false;
  }
}

}  // namespace

void NodeLowering::finish() {
  if (leaves_numbers_alone(node_.op)) return;
  for (const std::size_t i : written_) {
    const Operand y = out(i);
    if (!lies_wider(out_dtype(i), y.dtype)) continue;
    emit_narrow(*this, y, y, out_dtype(i), Overflow::wrap);
  }
}

void NodeLowering::alias(std::size_t i, const Operand& operand) {
  const graph::ValueId id = node_.output(i);
  draft_.values[static_cast<std::size_t>(id.index)] = view(operand, shape_of(id));
}

Operand NodeLowering::temporary(DataType dtype, Shape shape) {
  const std::int64_t bytes = storage_bytes(dtype, element_count(shape));
  // At once: what a lowering prepares may grow with the extents too.
  const std::uint64_t limit = properties().max_allocation_bytes;
  if (limit != 0 && static_cast<std::uint64_t>(bytes) > limit) {
    fail_device("a tensor of " + std::string(to_string(dtype)) + " " + to_string(shape) +
                    " is larger than the device's limit of " + std::to_string(limit >> 20) + " MiB",
                "use a smaller batch or sequence, or another device");
  }
  return {draft_.add_buffer(bytes), 0, dtype, std::move(shape)};
}

Operand NodeLowering::plan_constant(const Tensor& tensor) {
  const DataType dtype = storage_type(tensor.dtype(), precision_).value();
  std::vector<std::byte> bytes(static_cast<std::size_t>(storage_bytes(dtype, tensor.count())));
  to_storage(tensor, dtype, bytes);
  draft_.constants.push_back(device_.allocate(bytes.size(), MemoryKind::kDevice));
  const Memory& memory = *draft_.constants.back();
  device_.upload({&memory, 0, bytes.size()}, bytes);
  return {draft_.add_fixed(memory), 0, dtype, tensor.shape()};
}

Operand NodeLowering::view(Operand operand, Shape shape) {
  operand.shape = std::move(shape);
  return operand;
}

void NodeLowering::add_dispatch(DispatchCommand command) {
  if (command.groups[0] == 0 || command.groups[1] == 0 || command.groups[2] == 0) return;
  StepInfo& step = draft_.steps.back();
  const std::string_view name = command.kernel->name;
  if (step.kernel.empty()) {
    step.kernel = name;
  } else if (step.kernel.find(name) == std::string::npos) {
    step.kernel += " + " + std::string(name);
  }
  draft_.add(std::move(command));
}

void NodeLowering::copy(const Operand& from, const Operand& to) {
  if (from.bytes() == 0) return;
  if (draft_.steps.back().kernel.empty()) draft_.steps.back().kernel = "copy";
  draft_.add(PlannedCopy{
      {from.buffer, from.offset, false, true}, {to.buffer, to.offset, true, false}, from.bytes()});
}

void NodeLowering::library_matmul(const LibraryMatmulCommand& command) {
  std::string& kernel = draft_.steps.back().kernel;
  if (kernel.find("cublaslt") == std::string::npos) {
    kernel += std::string(kernel.empty() ? "" : " + ") + "cublaslt";
  }
  if (command.operands == Operands::kTf32) draft_.steps.back().precision.tf32 = true;
  if (command.operands == Operands::kBf16) set_operands(DataType::bf16);
  draft_.add(command);
}

void NodeLowering::fill(const Operand& to, std::uint32_t bits) {
  if (to.bytes() == 0) return;
  if (draft_.steps.back().kernel.empty()) draft_.steps.back().kernel = "fill";
  draft_.add(PlannedFill{{to.buffer, to.offset, true, false}, (to.bytes() + 3) / 4 * 4, bits});
}

DevicePtr NodeLowering::fault() {
  if (draft_.fault_buffer < 0) draft_.fault_buffer = draft_.add_buffer(0);
  const auto slot = static_cast<std::int64_t>(draft_.fault_steps.size());
  draft_.fault_steps.push_back(static_cast<std::int32_t>(draft_.steps.size()) - 1);
  draft_.buffers[static_cast<std::size_t>(draft_.fault_buffer)].bytes += kFaultWords * 4;
  // Neither read nor written: no order among those that store is needed.
  return encode({draft_.fault_buffer, slot * kFaultWords * 4, false, false});
}

DevicePtr NodeLowering::pointer(const Operand& operand, bool written, bool read) {
  if (!operand.defined()) return {};
  return encode({operand.buffer, operand.offset, written, read});
}

const Kernel& NodeLowering::need(const Kernel* kernel, const std::string& name) {
  if (kernel == nullptr) {
    throw Error(ErrorKind::failed, "there is no kernel " + name + " with these parameters",
                "this is a mistake in Concord; please report it");
  }
  return *kernel;
}

}  // namespace concord::gpu
