#include "backends/cpu/planner.h"

#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/state_area.h"
#include "graph/operand_errors.h"

namespace concord::cpu {
namespace {

// Refuses what cannot be, naming the node that would make it, before a plan prepares for it.
void check_size(const graph::Graph& graph, graph::ValueId id, DataType dtype, const Dims& shape) {
  try {
    const std::int64_t count = element_count(shape.shape());
    if (static_cast<double>(count) * bits(dtype) / 8 > static_cast<double>(machine_memory())) {
      throw Error(ErrorKind::failed,
                  "a tensor of " + std::string(to_string(dtype)) + " " + shape.text() +
                      " does not fit the memory of this machine",
                  "use smaller sizes");
    }
  } catch (const Error& error) {
    if (!id.valid()) throw;
    const graph::NodeId maker = graph.value(id).producer;
    throw error.with_context(maker.valid() ? describe(graph.node(maker))
                                           : "'" + graph.value(id).name + "'");
  }
}

}  // namespace

Planner::Planner(ProgramLayout& layout, std::shared_ptr<ProgramState> state,
                 const Bindings& bindings)
    : layout_(layout), program_(std::move(state)), extents_(layout.dims.evaluate(bindings)) {
  data_.bindings = bindings;
  const std::size_t units = layout.units.size();
  data_.infos.reserve(units);
  data_.steps.reserve(units);
  data_.actions.reserve(units + units / 2);
  data_.taps.reserve(units + units / 4);
  areas_.reserve(layout.values.size() + 8);
  pieces_.reserve(units + units / 2);
  start_values();
}

void Planner::start_values() {
  areas_.resize(layout_.fixed.size());
  values_.resize(layout_.values.size());
  data_.inputs.resize(layout_.graph_inputs.size());
  data_.outputs.resize(layout_.graph_outputs.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueInfo& info = layout_.values[i];
    ValueState& state = values_[i];
    state.uses_left = info.uses;
    state.view.dtype = info.dtype;
    state.view.shape = values(info.shape);
    check_size(*program_->graph, info.id, info.dtype, state.view.shape);
    if (info.area != 0) {
      state.view.at = {info.area, 0};
    } else if (info.state >= 0) {
      continue;
    } else if (info.input >= 0) {
      state.view.at = {add_area(Area::Kind::input), 0};
      data_.inputs[static_cast<std::size_t>(info.input)] = {state.view.at.area, info.dtype,
                                                            state.view.shape, info.id};
    } else {
      continue;
    }
    state.view.strides = dense_strides(state.view.shape);
  }
  start_states();
  for (std::size_t i = 0; i < data_.outputs.size(); ++i) {
    const ValueState& state = values_[static_cast<std::size_t>(layout_.graph_outputs[i])];
    const int kept = layout_.values[static_cast<std::size_t>(layout_.graph_outputs[i])].state;
    output_areas_.push_back(kept < 0 ? add_area(Area::Kind::output)
                                     : data_.states[static_cast<std::size_t>(kept)].area);
    data_.outputs[i] = {state.view.dtype, state.view.shape, output_areas_.back(), kept >= 0};
  }
}

// A state's values lie in its area, dense but for the room along its axis.
void Planner::start_states() {
  for (const StateInfo& info : layout_.states) {
    View& before = values_[static_cast<std::size_t>(info.input)].view;
    View& after = values_[static_cast<std::size_t>(info.output)].view;
    const std::int64_t length = after.shape[info.axis];
    const std::int64_t room = state_capacity(std::max(before.shape[info.axis], length));
    Dims whole = after.shape;
    whole[info.axis] = room;
    before.strides = after.strides = dense_strides(whole);
    if (info.padded >= 0) {
      values_[static_cast<std::size_t>(info.padded)].view.strides = after.strides;
    }
    before.at = {add_area(Area::Kind::state), 0};
    data_.states.push_back({before.at.area, before.shape, info.axis, room, length});
  }
}

std::shared_ptr<const Plan> Planner::make_plan() {
  for (const Unit& unit : layout_.units) plan_unit(unit);
  finish_outputs();
  layout_arena();
  data_.keep = layout_.keep;
  data_.memory.weights = layout_.weight_bytes;
  return std::make_shared<CpuPlan>(std::move(program_), std::move(data_));
}

void Planner::plan_unit(const Unit& unit) {
  unit_ = &unit;
  info_ = StepInfo{};
  info_.node = unit.node;
  for (int output : unit.outputs) {
    if (output < 0) continue;
    const DataType dtype = layout_.values[static_cast<std::size_t>(output)].dtype;
    info_.precision = {dtype, is_half(dtype) ? DataType::f32 : dtype, dtype, false};
    break;
  }
  data_.steps.push_back({static_cast<std::int32_t>(data_.actions.size()), 0});
  try {
    unit.plan(*this);
  } catch (const Error& error) {
    throw graph::at_node(error, *program_->graph, program_->graph->node(unit.node));
  }
  finish_unit();
}

void Planner::finish_unit() {
  for (const Narrowing& n : narrowings_) {
    const View& view = values_[static_cast<std::size_t>(n.value)].view;
    emit([from = n.f32, to = view.at, type = element(view.dtype), count = view.shape.count()](
             const Frame& f) { convert(Element::f32, f.at(from), type, f.at(to), count); });
  }
  narrowings_.clear();
  PlanData::Step& step = data_.steps.back();
  step.end_action = static_cast<std::int32_t>(data_.actions.size());
  const auto index = static_cast<std::int32_t>(data_.steps.size() - 1);
  const bool idle = step.first_action == step.end_action;
  const bool count_bytes = !idle && info_.bytes == 0;
  for (int output : unit_->outputs) {
    if (output < 0) continue;
    const ValueInfo& info = layout_.values[static_cast<std::size_t>(output)];
    const ValueState& state = values_[static_cast<std::size_t>(output)];
    if (count_bytes) info_.bytes += static_cast<double>(state.view.bytes());
    touch(state.view.at.area);
    if (info.id.valid()) data_.taps.push_back({index, info.id, state.view});
  }
  for (int input : unit_->inputs) {
    if (input < 0) continue;
    ValueState& state = values_[static_cast<std::size_t>(input)];
    if (count_bytes) info_.bytes += static_cast<double>(state.view.bytes());
    --state.uses_left;
    --areas_[state.view.at.area].pending;
  }
  if (info_.kernel.empty()) info_.kernel = idle ? "view" : "copy";
  data_.infos.push_back(std::move(info_));
}

void Planner::finish_outputs() {
  for (std::size_t i = 0; i < output_areas_.size(); ++i) {
    const auto value = static_cast<std::size_t>(layout_.graph_outputs[i]);
    const View& view = values_[value].view;
    if (view.at.area == output_areas_[i]) continue;
    // A graph output that is an input, a constant, or another output as well.
    if (data_.steps.empty()) {
      data_.steps.push_back({});
      data_.infos.push_back({});
      data_.infos.back().kernel = "copy";
    }
    touch(view.at.area);
    copy_view(view, {output_areas_[i], 0});
    data_.steps.back().end_action = static_cast<std::int32_t>(data_.actions.size());
  }
}

void Planner::layout_arena() {
  std::vector<std::uint32_t> area_of(pieces_.size());
  for (std::size_t a = 0; a < areas_.size(); ++a) {
    if (areas_[a].piece >= 0)
      area_of[static_cast<std::size_t>(areas_[a].piece)] = static_cast<std::uint32_t>(a);
  }
  // Pieces are added in the order of steps, so they are sorted by their first use.
  data_.arena_bytes = assign_offsets(pieces_);
  data_.memory.activations = data_.arena_bytes;
  data_.arena_areas.reserve(pieces_.size());
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    data_.arena_areas.push_back({area_of[p], pieces_[p].offset});
    data_.memory.naive += (pieces_[p].bytes + 63) / 64 * 64;
  }
  data_.fixed = layout_.fixed;
  data_.fixed.resize(areas_.size(), nullptr);
  for (const auto& [area, address] : fixed_later_) data_.fixed[area] = address;
}

// --- areas

std::uint32_t Planner::add_area(Area::Kind kind) {
  areas_.push_back({kind, -1, 0});
  return static_cast<std::uint32_t>(areas_.size() - 1);
}

Ref Planner::add_piece(std::int64_t bytes) {
  const std::uint32_t area = add_area(Area::Kind::arena);
  areas_[area].piece = static_cast<std::int32_t>(pieces_.size());
  const auto now = static_cast<std::int32_t>(data_.steps.size() - 1);
  pieces_.push_back({bytes, now, now, 0});
  return {area, 0};
}

void Planner::touch(std::uint32_t area) {
  const std::int32_t piece = areas_[area].piece;
  if (piece >= 0) {
    pieces_[static_cast<std::size_t>(piece)].last =
        static_cast<std::int32_t>(data_.steps.size() - 1);
  }
}

// The value moves to (or is first placed at) this view: reads to come are those of the new area.
void Planner::set_view(int value, const View& view) {
  ValueState& state = values_[static_cast<std::size_t>(value)];
  if (state.view.at.area != 0) areas_[state.view.at.area].pending -= state.uses_left;
  state.view = view;
  areas_[view.at.area].pending += state.uses_left;
  touch(view.at.area);
}

Ref Planner::fresh(int value, std::int64_t bytes) {
  const int output = layout_.values[static_cast<std::size_t>(value)].output;
  if (output >= 0) return {output_areas_[static_cast<std::size_t>(output)], 0};
  return add_piece(bytes);
}

void Planner::copy_view(const View& from, Ref to) {
  const std::int64_t count = from.shape.count();
  if (count == 0) return;
  if (from.dense()) {
    emit([source = from.at, to, bytes = static_cast<std::size_t>(from.bytes())](const Frame& f) {
      copy_bytes(bytes, f.at(source), f.at(to));
    });
    return;
  }
  emit([from, to, size = element_bytes(from.dtype)](const Frame& f) {
    copy_strided(size, from.shape, f.at(from.at), from.strides, f.at(to),
                 dense_strides(from.shape));
  });
}

// Made once; readers that take views go on with the view.
Ref Planner::dense_copy(int value) {
  ValueState& state = values_[static_cast<std::size_t>(value)];
  touch(state.view.at.area);
  if (!state.dense) {
    state.dense = add_piece(state.view.bytes());
    copy_view(state.view, state.dense);
  }
  touch(state.dense.area);
  return state.dense;
}

}  // namespace concord::cpu
