#include <utility>

#include "backends/session.h"
#include "parity/performance.h"

namespace concord::parity {

void explain(Performance& performance, const BackendSpec& spec, const DeviceInfo& device,
             const std::shared_ptr<const graph::Graph>& imported,
             const std::set<std::string>& disabled_passes, const Bindings& dims) {
  if (performance.steps.empty()) return;
  const std::optional<Ceilings> ceilings = ceilings_of(spec, device);
  if (!ceilings) return;
  BackendSpec apart = spec;
  apart.fusion = false;
  const auto optimised = optimise_for(imported, spec, disabled_passes);
  const auto unfused = optimise_for(imported, apart, disabled_passes);
  performance.floor = floor_of(*optimised, dims, performance.steps, *ceilings);
  performance.roofline = place(*optimised, unfused.get(), dims, performance.steps, *ceilings,
                               performance.latency.median, performance.transfer_ms);
}

void add_floor(Performance& performance, const BackendSpec& spec, const DeviceInfo& device,
               const std::shared_ptr<const graph::Graph>& imported,
               const std::set<std::string>& disabled_passes, const Bindings& dims) {
  const std::vector<WorkerStep> steps = std::exchange(performance.steps, {});
  if (steps.empty()) return;
  const std::optional<Ceilings> ceilings = ceilings_of(spec, device);
  if (!ceilings) return;
  const auto optimised = optimise_for(imported, spec, disabled_passes);
  performance.floor = floor_of(*optimised, dims, steps, *ceilings);
}

}  // namespace concord::parity
