#pragma once

#include "backends/backend.h"

namespace concord::cpu {

// The CPU backend: oneDNN and own kernels over one pool of threads.
class CpuBackend : public Backend {
 public:
  CpuBackend();

  std::string_view name() const override { return "cpu"; }
  const DeviceInfo& device() const override { return device_; }
  std::string version() const override;
  std::optional<std::string> why_unsupported(const graph::Graph& graph,
                                             const graph::Node& node) const override;
  std::unique_ptr<Program> compile(std::shared_ptr<const graph::Graph> graph,
                                   const CompileOptions& options) override;

 private:
  DeviceInfo device_;
};

// The one device of this backend: the machine's processor.
DeviceInfo cpu_device();

}  // namespace concord::cpu
