#include "backends/cpu/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "backends/cpu/element.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/state_area.h"
#include "graph/operand_errors.h"

namespace concord::cpu {
namespace {

// The table of addresses of one run, kept per thread: runs nest no deeper than a handful.
class AddressTable {
 public:
  explicit AddressTable(std::size_t size) {
    std::vector<std::vector<std::byte*>>& spare = pool();
    if (!spare.empty()) {
      table_ = std::move(spare.back());
      spare.pop_back();
    }
    table_.resize(size);
  }
  ~AddressTable() { pool().push_back(std::move(table_)); }
  AddressTable(const AddressTable&) = delete;
  AddressTable& operator=(const AddressTable&) = delete;
  std::byte*& operator[](std::size_t i) { return table_[i]; }
  std::byte** data() { return table_.data(); }

 private:
  static std::vector<std::vector<std::byte*>>& pool() {
    thread_local std::vector<std::vector<std::byte*>> spare;
    return spare;
  }
  std::vector<std::byte*> table_;
};

}  // namespace

Tensor read_view(const Frame& frame, const View& view) {
  Tensor tensor(view.dtype, view.shape.shape());
  if (tensor.count() == 0) return tensor;
  const std::byte* source = frame.at<const std::byte>(view.at);
  if (view.dense()) {
    std::memcpy(tensor.mutable_data(), source, static_cast<std::size_t>(tensor.bytes()));
  } else {
    copy_strided(element_bytes(view.dtype), view.shape, source, view.strides, tensor.mutable_data(),
                 dense_strides(view.shape));
  }
  return tensor;
}

void CpuPlan::check_inputs(const RunArgs& args) const {
  if (args.inputs.size() != data_.inputs.size()) {
    throw Error(ErrorKind::usage, "a run needs " + std::to_string(data_.inputs.size()) +
                                      " inputs, " + std::to_string(args.inputs.size()) + " given");
  }
  for (std::size_t i = 0; i < data_.inputs.size(); ++i) {
    const PlanData::Input& wanted = data_.inputs[i];
    if (wanted.area == 0) continue;
    const Tensor& given = args.inputs[i];
    const bool same =
        given.dtype() == wanted.dtype && std::equal(given.shape().begin(), given.shape().end(),
                                                    wanted.shape.begin(), wanted.shape.end());
    if (same) continue;
    throw Error(ErrorKind::usage, "input '" + program_->graph->value(wanted.value).name + "' is " +
                                      std::string(to_string(given.dtype())) +
                                      to_string(given.shape()) + ", the plan was made for " +
                                      std::string(to_string(wanted.dtype)) + wanted.shape.text());
  }
}

void CpuPlan::place_states(const RunArgs& args, std::byte** areas) const {
  if (args.states.size() != data_.states.size()) {
    throw Error(ErrorKind::failed, "internal: a run has other states than its plan");
  }
  for (std::size_t i = 0; i < data_.states.size(); ++i) {
    const PlanData::State& wanted = data_.states[i];
    StateArea& state = *args.states[i];
    if (state.shape() != wanted.before.shape()) {
      throw Error(ErrorKind::failed, "internal: a state has other extents than its plan");
    }
    state.make_room(wanted.axis, wanted.room, wanted.length);
    areas[wanted.area] = state.data();
  }
}

void CpuPlan::run(const RunArgs& args) const {
  check_inputs(args);
  ArenaPool::Lease arena = program_->arenas.take(static_cast<std::size_t>(data_.arena_bytes));
  AddressTable areas(data_.fixed.size());
  std::copy(data_.fixed.begin(), data_.fixed.end(), areas.data());
  for (const PlanData::ArenaArea& a : data_.arena_areas) areas[a.area] = arena.data() + a.offset;
  for (std::size_t i = 0; i < data_.inputs.size(); ++i) {
    // Actions only read from inputs.
    if (data_.inputs[i].area != 0) {
      areas[data_.inputs[i].area] = const_cast<std::byte*>(args.inputs[i].data());
    }
  }
  place_states(args, areas.data());
  std::vector<Tensor> discarded;
  std::vector<Tensor>& outputs = args.outputs != nullptr ? *args.outputs : discarded;
  outputs.resize(data_.outputs.size());
  for (std::size_t i = 0; i < data_.outputs.size(); ++i) {
    const PlanData::Output& out = data_.outputs[i];
    if (out.is_state) {
      outputs[i] = Tensor();
      continue;
    }
    outputs[i] = program_->outputs->allocate(out.dtype, out.shape.shape());
    areas[out.area] = outputs[i].mutable_data();
  }

  const Frame frame{areas.data(), &data_.bindings};
  const ThreadScope threads(program_->threads, program_->workers);
  std::size_t action = 0;
  try {
    if (args.taps == nullptr && args.step_ms == nullptr) {
      for (; action < data_.actions.size(); ++action) data_.actions[action]->run(frame);
    } else {
      run_observed(frame, args, action);
    }
  } catch (const Error& error) {
    const auto step = std::find_if(data_.steps.begin(), data_.steps.end(), [&](const auto& s) {
      return static_cast<std::size_t>(s.end_action) > action;
    });
    if (step == data_.steps.end()) throw;
    const StepInfo& info = data_.infos[static_cast<std::size_t>(step - data_.steps.begin())];
    throw graph::at_node(error, *program_->graph, program_->graph->node(info.node));
  }
}

void CpuPlan::run_observed(const Frame& frame, const RunArgs& args, std::size_t& action) const {
  using Clock = std::chrono::steady_clock;
  if (args.step_ms != nullptr) args.step_ms->assign(data_.steps.size(), 0.0);
  std::size_t next_tap = 0;
  for (std::size_t s = 0; s < data_.steps.size(); ++s) {
    const auto begin = Clock::now();
    const auto end = static_cast<std::size_t>(data_.steps[s].end_action);
    for (; action < end; ++action) data_.actions[action]->run(frame);
    if (args.step_ms != nullptr) {
      (*args.step_ms)[s] = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    }
    if (args.taps != nullptr) offer_taps(frame, *args.taps, s, next_tap);
  }
}

void CpuPlan::offer_taps(const Frame& frame, TapSink& taps, std::size_t step,
                         std::size_t& next) const {
  for (; next < data_.taps.size() && static_cast<std::size_t>(data_.taps[next].step) == step;
       ++next) {
    const PlanData::Tap& tap = data_.taps[next];
    if (taps.wants(tap.value)) taps.take(tap.value, read_view(frame, tap.view));
  }
}

}  // namespace concord::cpu
