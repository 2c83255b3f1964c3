#include "backends/gpu/gpu_backend.h"

#include <utility>

#include "backends/gpu/lowering.h"
#include "backends/gpu/program.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

[[noreturn]] void refuse(const std::string& name, Precision precision, const std::string& why,
                         const std::string& hint) {
  throw Error(ErrorKind::failed,
              name + ": no precision=" + std::string(to_string(precision)) + ": " + why, hint);
}

// What the device has for a precision.
void check_precision(const std::string& name, Precision precision,
                     const DeviceProperties& properties) {
  const std::string device = "device " + properties.name;
  const std::string other = "use precision=f32 or another device";
  if (precision == Precision::f16 &&
      !(properties.abilities.f16 && properties.abilities.storage16)) {
    refuse(name, precision, device + " has no 16-bit floats", other);
  }
  if (precision != Precision::tf32 && precision != Precision::bf16) return;
  if (!properties.short_products) {
    refuse(name, precision, device + " has no products of such operands", other);
  }
  if (precision == Precision::tf32 && !properties.library_matmul) {
    refuse(name, precision, "only cuBLASLt has it, and it is not used here",
           "use precision=bf16, or leave matmul=portable away and install cuBLASLt");
  }
}

// 8-bit integers are computed with where the model says so; floats are not made such here.
void check_int8(const std::string& name, const graph::Graph& graph, Precision precision) {
  if (precision != Precision::int8) return;
  for (const graph::NodeId id : graph.order()) {
    switch (graph.node(id).op) {
      case graph::OpKind::matmul_integer:
      case graph::OpKind::matmul_nbits:
      case graph::OpKind::quantize:
      case graph::OpKind::dequantize:
      case graph::OpKind::dynamic_quantize:
        return;
      default:
        break;
    }
  }
  throw Error(ErrorKind::unsupported, name + ": precision=int8 on a model of floats",
              "quantise the model first; models of 8-bit integers run as they are");
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
    check_int8(name_, *graph, options.precision);
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
    case DeviceType::kImitated:
      info.type = "imitated";
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
