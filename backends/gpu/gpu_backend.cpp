#include "backends/gpu/gpu_backend.h"

#include <utility>

#include "backends/gpu/lowering.h"
#include "backends/gpu/program.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

// Without half floats in kernels, precision=f16 has nothing to run on.
void check_precision(const std::string& name, Precision precision,
                     const DeviceProperties& properties) {
  if (precision == Precision::f16 &&
      !(properties.abilities.f16 && properties.abilities.storage16)) {
    throw Error(ErrorKind::failed,
                name + ": device " + properties.name + " has no 16-bit floats for precision=f16",
                "use precision=f32 or another device");
  }
  if (precision == Precision::tf32 || precision == Precision::bf16 ||
      precision == Precision::int8) {
    throw Error(ErrorKind::usage, name + " has no precision=" + std::string(to_string(precision)),
                "it has precision=f32, f16 and model");
  }
}

class GpuBackend : public Backend {
 public:
  GpuBackend(std::string name, int index, std::shared_ptr<Device> device,
             const CompileOptions& options)
      : name_(std::move(name)),
        device_(std::move(device)),
        info_(device_info(index, device_->properties())),
        options_(options) {}

  std::string_view name() const override { return name_; }
  const DeviceInfo& device() const override { return info_; }
  std::string version() const override { return info_.driver; }

  std::optional<std::string> why_unsupported(const graph::Graph& graph,
                                             const graph::Node& node) const override {
    return gpu::why_unsupported({graph, node, device_->properties(), options_.precision});
  }

  std::unique_ptr<Program> compile(std::shared_ptr<const graph::Graph> graph,
                                   const CompileOptions& options) override {
    check_precision(name_, options.precision, device_->properties());
    return std::make_unique<GpuProgram>(
        std::make_shared<ProgramState>(device_, std::move(graph), options));
  }

 private:
  std::string name_;
  std::shared_ptr<Device> device_;
  DeviceInfo info_;
  CompileOptions options_;
};

}  // namespace

DeviceInfo device_info(int index, const DeviceProperties& properties) {
  DeviceInfo info;
  info.index = index;
  info.name = properties.name;
  info.driver = properties.driver;
  if (!properties.driver_info.empty()) info.driver += " " + properties.driver_info;
  switch (properties.type) {
    case DeviceType::kCpu:
      info.type = "cpu";
      break;
    case DeviceType::kIntegrated:
      info.type = "integrated";
      break;
    case DeviceType::kDiscrete:
      info.type = "discrete";
      break;
    case DeviceType::kVirtual:
      info.type = "virtual";
      break;
    case DeviceType::kOther:
      info.type = "other";
      break;
  }
  info.memory_bytes = properties.memory_bytes;
  info.units = properties.units;
  return info;
}

std::unique_ptr<Backend> make_backend(std::string name, int index, std::shared_ptr<Device> device,
                                      const CompileOptions& options) {
  check_precision(name, options.precision, device->properties());
  return std::make_unique<GpuBackend>(std::move(name), index, std::move(device), options);
}

}  // namespace concord::gpu
