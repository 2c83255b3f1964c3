#include "backends/gpu/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "backends/gpu/convert.h"
#include "backends/gpu/fault_words.h"
#include "backends/gpu/index_inputs.h"
#include "backends/gpu/lowering.h"
#include "graph/error.h"
#include "graph/operand_errors.h"

namespace concord::gpu {
namespace {

constexpr std::int64_t kStagingAlignment = 64;  // bytes

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

bool host_sees(const Arena& arena) {
  return arena.memory == nullptr || arena.memory->host();
}

double bytes_of(const graph::Graph& graph, const PlanDraft& draft,
                const std::vector<graph::ValueId>& ids) {
  double bytes = 0;
  for (const graph::ValueId id : ids) {
    if (!id.valid() || id.index >= static_cast<std::int32_t>(graph.value_count())) continue;
    const Operand& operand = draft.values[static_cast<std::size_t>(id.index)];
    if (operand.defined()) bytes += static_cast<double>(operand.bytes());
  }
  return bytes;
}

// The types that the report shows: floats as they are stored, others as the model has them.
StepPrecision precision_of(const graph::Graph& graph, const graph::Node& node,
                           Precision precision) {
  const auto shown = [&](graph::ValueId id) {
    if (!id.valid()) return DataType::undefined;
    return shown_type(graph.value(id).dtype, precision);
  };
  StepPrecision result;
  result.store = shown(node.output(0));
  result.operand = node.has_input(0) ? shown(node.input(0)) : result.store;
  const bool short_float = is_float(result.operand) && result.operand != DataType::f64;
  result.accumulate = short_float ? DataType::f32 : result.operand;
  return result;
}

}  // namespace

GpuPlan::GpuPlan(std::shared_ptr<ProgramState> state, const Bindings& bindings)
    : state_(std::move(state)) {
  draft_.values.resize(state_->graph->value_count());
  lower(bindings);
  add_ports();
  lay_out_memory();
}

void GpuPlan::lower(const Bindings& bindings) {
  const graph::Graph& graph = *state_->graph;
  const Precision precision = state_->options.precision;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.value(id);
    const auto storage = storage_type(value.dtype, precision);
    const auto shape = value.shape.has_value() ? evaluate(*value.shape, bindings) : std::nullopt;
    if (!storage.has_value() || !shape.has_value()) {
      throw Error(ErrorKind::failed,
                  "input " + value.name + " has a type or extents that the device can't take");
    }
    Operand operand{-1, 0, *storage, *shape};
    operand.buffer = draft_.add_buffer(operand.bytes());
    draft_.touch(operand.buffer, 0);
    draft_.values[static_cast<std::size_t>(id.index)] = operand;
  }
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    StepInfo info;
    info.node = id;
    info.precision = precision_of(graph, node, precision);
    draft_.steps.push_back(info);
    NodeLowering lowering_of(draft_, *state_->device, state_->weights, graph, node, bindings,
                             precision);
    try {
      lowering(node.op).lower(lowering_of);
      lowering_of.finish();
    } catch (const Error& error) {
      throw graph::at_node(error, graph, node);
    }
    StepInfo& step = draft_.steps.back();
    if (step.kernel.empty()) {
      step.kernel = "view";
    } else {
      step.bytes = bytes_of(graph, draft_, node.inputs) + bytes_of(graph, draft_, node.outputs);
    }
  }
}

void GpuPlan::add_ports() {
  const graph::Graph& graph = *state_->graph;
  const auto end = static_cast<std::int32_t>(draft_.commands.size());
  const auto stage = [](std::size_t& total, std::int64_t bytes) {
    const auto offset = static_cast<std::int64_t>(total);
    total += static_cast<std::size_t>((bytes + kStagingAlignment - 1) / kStagingAlignment *
                                      kStagingAlignment);
    return offset;
  };
  for (const graph::ValueId id : graph.inputs) {
    Port port;
    port.operand = draft_.values[static_cast<std::size_t>(id.index)];
    port.dtype = graph.value(id).dtype;
    port.staging = stage(staging_.upload_bytes, port.operand.bytes());
    inputs_.push_back(std::move(port));
  }
  for (const graph::ValueId id : graph.outputs) {
    const graph::Value& value = graph.value(id);
    Port port;
    port.dtype = value.dtype;
    port.constant = value.constant;
    if (!value.is_constant()) {
      port.operand = draft_.values[static_cast<std::size_t>(id.index)];
      if (!port.operand.defined()) {
        throw Error(ErrorKind::failed, "output " + value.name + " was not computed");
      }
      draft_.touch(port.operand.buffer, end);
      port.staging = stage(staging_.download_bytes, port.operand.bytes());
    }
    outputs_.push_back(std::move(port));
  }
  if (draft_.fault_buffer < 0) return;
  faults_.dtype = DataType::i32;
  faults_.operand = {draft_.fault_buffer,
                     0,
                     DataType::i32,
                     {static_cast<std::int64_t>(draft_.fault_steps.size()) * kFaultWords}};
  faults_.staging = stage(staging_.download_bytes, faults_.operand.bytes());
  draft_.touch(draft_.fault_buffer, 0);
  draft_.touch(draft_.fault_buffer, end);
}

void GpuPlan::lay_out_memory() {
  std::vector<Lifetime> lifetimes;
  for (const PlanBuffer& buffer : draft_.buffers) {
    if (buffer.fixed != nullptr) {
      lifetimes.push_back({0, 0, -1});
    } else {
      lifetimes.push_back({buffer.bytes, std::max(buffer.first, 0), std::max(buffer.last, 0)});
    }
  }
  reused_ = lay_out(lifetimes);
  apart_ = lay_out_apart(lifetimes);
}

MemoryUse GpuPlan::memory() const {
  return {static_cast<std::int64_t>(state_->weights.bytes()), reused_.bytes, apart_.bytes};
}

ArenaNeeds GpuPlan::needs(bool apart) const {
  ArenaNeeds all = staging_;
  all.bytes = static_cast<std::size_t>(std::max<std::int64_t>(layout(apart).bytes, 1));
  const DeviceProperties& properties = state_->device->properties();
  if (properties.unified) all.upload_bytes = all.download_bytes = 0;
  return all;
}

MemoryRange GpuPlan::range(const Operand& operand, const Arena& arena, bool apart) const {
  const PlanBuffer& buffer = draft_.buffers[static_cast<std::size_t>(operand.buffer)];
  const auto bytes = static_cast<std::size_t>(operand.bytes());
  const auto offset = static_cast<std::size_t>(operand.offset);
  if (buffer.fixed != nullptr) return {buffer.fixed, offset, bytes};
  const std::int64_t base = layout(apart).offsets[static_cast<std::size_t>(operand.buffer)];
  return {arena.memory.get(), static_cast<std::size_t>(base) + offset, bytes};
}

void GpuPlan::write_inputs(std::span<const Tensor> inputs, const Arena& arena, bool apart) const {
  if (inputs.size() != inputs_.size()) {
    throw Error(ErrorKind::failed, "a plan of " + std::to_string(inputs_.size()) +
                                       " inputs was given " + std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = inputs_[i];
    if (inputs[i].dtype() != port.dtype || inputs[i].shape() != port.operand.shape) {
      throw Error(ErrorKind::failed, "input " + std::to_string(i) + " has another type or shape (" +
                                         to_string(inputs[i].shape()) + ") than the plan (" +
                                         to_string(port.operand.shape) + ")");
    }
    const MemoryRange to = range(port.operand, arena, apart);
    if (to.bytes == 0) continue;  // where nothing passes there may be no staging memory
    std::byte* host =
        host_sees(arena) ? to.memory->host() + to.offset : arena.upload->host() + port.staging;
    try {
      to_storage(inputs[i], port.operand.dtype, {host, to.bytes});
    } catch (const Error& error) {
      throw input_error(*state_->graph, state_->graph->inputs[i], error);
    }
  }
}

Tensor GpuPlan::read(const Operand& operand, DataType dtype, const Arena& arena, bool apart) const {
  const MemoryRange from = range(operand, arena, apart);
  if (const std::byte* host = from.memory->host()) {
    return from_storage({host + from.offset, from.bytes}, operand.dtype, dtype, operand.shape);
  }
  std::vector<std::byte> bytes(from.bytes);
  state_->device->download(from, bytes);
  return from_storage(bytes, operand.dtype, dtype, operand.shape);
}

Tensor GpuPlan::read_port(const Port& port, const Arena& arena, bool apart) const {
  const PlanBuffer& buffer = draft_.buffers[static_cast<std::size_t>(port.operand.buffer)];
  if (host_sees(arena) || buffer.fixed != nullptr || port.operand.bytes() == 0) {
    return read(port.operand, port.dtype, arena, apart);
  }
  const std::byte* host = arena.download->host() + port.staging;
  return from_storage({host, static_cast<std::size_t>(port.operand.bytes())}, port.operand.dtype,
                      port.dtype, port.operand.shape);
}

std::vector<Tensor> GpuPlan::read_outputs(const Arena& arena, bool apart) const {
  std::vector<Tensor> tensors;
  for (const Port& port : outputs_) {
    tensors.push_back(port.constant.has_value() ? port.constant->clone()
                                                : read_port(port, arena, apart));
  }
  return tensors;
}

void GpuPlan::check_faults(const Arena& arena, bool apart) const {
  if (!faults_.operand.defined()) return;
  const Tensor words = read_port(faults_, arena, apart);
  for (std::size_t i = 0; i < draft_.fault_steps.size(); ++i) {
    const auto word = words.as<std::int32_t>().subspan(i * kFaultWords, kFaultWords);
    if (word[0] == 0) continue;
    const StepInfo& step = draft_.steps[static_cast<std::size_t>(draft_.fault_steps[i])];
    throw fault_error(*state_->graph, state_->graph->node(step.node), word[1], word[2]);
  }
}

void GpuPlan::run(const RunArgs& args) const {
  const bool timed = args.step_ms != nullptr && state_->device->properties().timestamps;
  const bool apart = args.taps != nullptr;
  const std::uint64_t calls_before = state_->device->driver_calls();
  const ArenaPool::Lease arena = state_->arenas.acquire(needs(apart));
  const Recording recording{arena->id, timed, apart};
  const std::shared_ptr<const Recorded> recorded = list(recording, *arena);
  const auto begin = Clock::now();
  write_inputs(args.inputs, *arena, apart);
  double transfer_ms = milliseconds_since(begin);
  recorded->list->submit();
  recorded->list->wait();
  state_->last_run_calls = state_->device->driver_calls() - calls_before;
  check_faults(*arena, apart);
  const auto ready = Clock::now();
  if (args.outputs != nullptr) *args.outputs = read_outputs(*arena, apart);
  transfer_ms += milliseconds_since(ready);
  if (args.step_ms != nullptr) {
    args.step_ms->assign(draft_.steps.size(), 0.0);
    const std::vector<double> times = timed ? recorded->list->times() : std::vector<double>();
    const std::vector<std::int32_t>& steps = recorded->steps;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double ms = times[i] * 1e-6;
      (steps[i] >= 0 ? (*args.step_ms)[static_cast<std::size_t>(steps[i])] : transfer_ms) += ms;
    }
  }
  if (args.transfer_ms != nullptr) *args.transfer_ms += transfer_ms;
  if (args.taps == nullptr) return;
  const graph::Graph& graph = *state_->graph;
  for (const graph::NodeId node : graph.order()) {
    for (const graph::ValueId id : graph.node(node).outputs) {
      if (!id.valid() || !args.taps->wants(id)) continue;
      const Operand& operand = draft_.values[static_cast<std::size_t>(id.index)];
      if (!operand.defined()) continue;
      args.taps->take(id, read(operand, graph.value(id).dtype, *arena, apart));
    }
  }
}

}  // namespace concord::gpu
