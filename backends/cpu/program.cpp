#include "backends/cpu/program.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/planner.h"
#include "backends/cpu/states.h"

namespace concord::cpu {

CpuProgram::CpuProgram(std::shared_ptr<const graph::Graph> graph, const CompileOptions& options)
    : state_(std::make_shared<ProgramState>()),
      max_plans_(std::max<std::size_t>(1, options.max_plans)) {
  state_->graph = graph;
  const int available = available_threads();
  state_->threads = options.threads > 0 ? options.threads : available;
  if (options.matmul == MatmulSource::library) state_->workers = Workers::openmp;
  Compiler compiler(std::move(graph), options);
  layout_ = compiler.compile();
}

std::vector<std::int64_t> CpuProgram::key_of(const Bindings& bindings) const {
  std::vector<std::int64_t> key;
  key.reserve(layout_.dims.symbols().size());
  for (const std::string& name : layout_.dims.symbols()) {
    const auto found = bindings.find(name);
    if (found == bindings.end()) {
      throw Error(ErrorKind::usage, "the dimension '" + name + "' has no value",
                  "Give every symbolic dimension a value.");
    }
    key.push_back(found->second);
  }
  return key;
}

std::shared_ptr<const Plan> CpuProgram::plan(const Bindings& bindings) {
  std::vector<std::int64_t> key = key_of(bindings);
  const std::lock_guard lock(mutex_);
  for (auto at = plans_.begin(); at != plans_.end(); ++at) {
    if (at->key != key) continue;
    plans_.splice(plans_.begin(), plans_, at);
    return plans_.front().plan;
  }
  Planner planner(layout_, state_, bindings);
  std::shared_ptr<const Plan> plan = planner.make_plan();
  plans_.push_front({std::move(key), plan});
  if (plans_.size() > max_plans_) plans_.pop_back();
  return plan;
}

std::optional<std::string> CpuProgram::keep_state(std::size_t input, std::size_t output) {
  const std::lock_guard lock(mutex_);
  if (!plans_.empty()) throw Error(ErrorKind::failed, "internal: a state comes after a plan");
  return mark_state(*state_->graph, layout_, input, output);
}

std::string CpuProgram::describe() const {
  return "cpu: " + std::to_string(layout_.units.size()) + " steps, " +
         std::to_string(layout_.weight_bytes) + " bytes of weights, " +
         std::to_string(state_->threads) + " threads, " + std::string(isa_name(current_isa()));
}

}  // namespace concord::cpu
