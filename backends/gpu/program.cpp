#include "backends/gpu/program.h"

#include <algorithm>
#include <map>

namespace concord::gpu {

std::shared_ptr<const Plan> GpuProgram::plan(const Bindings& bindings) {
  const std::scoped_lock lock(mutex_);
  const auto known =
      std::ranges::find_if(plans_, [&](const auto& entry) { return entry.first == bindings; });
  if (known != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, known);
  } else {
    plans_.emplace_front(bindings, std::make_shared<const GpuPlan>(state_, bindings));
    const std::size_t kept = std::max<std::size_t>(state_->options.max_plans, 1);
    while (plans_.size() > kept) plans_.pop_back();
  }
  return plans_.front().second;
}

std::string GpuProgram::describe() const {
  const graph::Graph& graph = *state_->graph;
  std::map<std::string, int> counts;
  for (const graph::NodeId id : graph.order()) {
    ++counts[std::string(to_string(graph.node(id).op))];
  }
  std::string text =
      state_->device->properties().name + ": " + std::to_string(graph.order().size()) + " nodes";
  for (const auto& [op, count] : counts) text += "\n  " + op + " " + std::to_string(count);
  if (const std::uint64_t calls = state_->last_run_calls) {
    text += "\n  " + std::to_string(calls) + " calls of the driver in the last run";
  }
  return text + "\n";
}

}  // namespace concord::gpu
