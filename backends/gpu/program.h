#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backends/backend.h"
#include "backends/gpu/plan.h"

namespace concord::gpu {

class GpuProgram : public Program {
 public:
  explicit GpuProgram(std::shared_ptr<ProgramState> state) : state_(std::move(state)) {}

  std::shared_ptr<const Plan> plan(const Bindings& bindings) override;
  std::string describe() const override;

 private:
  std::shared_ptr<ProgramState> state_;
  std::mutex mutex_;
  std::list<std::pair<Bindings, std::shared_ptr<const GpuPlan>>> plans_;  // last used first
};

}  // namespace concord::gpu
