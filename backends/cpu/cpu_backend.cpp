#include "backends/cpu/cpu_backend.h"

#include <fstream>

#include <sys/sysinfo.h>

#include "backends/cpu/dims.h"
#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/onednn_product.h"
#include "backends/cpu/program.h"

namespace concord::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

}  // namespace

DeviceInfo cpu_device() {
  DeviceInfo info;
  info.name = processor_name();
  info.driver =
      std::string(isa_name(native_isa())) + ", " + std::to_string(available_threads()) + " threads";
  info.type = "cpu";
  info.units = available_threads();
  struct sysinfo system {};
  if (sysinfo(&system) == 0) {
    info.memory_bytes = std::uint64_t{system.totalram} * system.mem_unit;
  }
  return info;
}

CpuBackend::CpuBackend() : device_(cpu_device()) {}

std::string CpuBackend::version() const {
  return std::string(isa_name(current_isa())) + ", " + onednn_version();
}

std::optional<std::string> CpuBackend::why_unsupported(const graph::Graph& graph,
                                                       const graph::Node& node) const {
  const auto too_many_axes = [&](graph::ValueId id) {
    return id.valid() && graph.value(id).shape && graph.value(id).shape->size() > Dims::max_rank;
  };
  for (const auto& ids : {node.inputs, node.outputs}) {
    for (graph::ValueId id : ids) {
      if (too_many_axes(id)) return "a tensor has more than 8 axes";
      if (id.valid() && graph.value(id).dtype == DataType::string) return "strings";
      if (id.valid() && is_container(graph.value(id).dtype)) return "sequences and optionals";
    }
  }
  return lowering(node.op).why_unsupported(graph, node);
}

namespace {

// Whether some node computes on quantised numbers.
bool is_quantised_model(const graph::Graph& graph) {
  for (graph::NodeId id : graph.order()) {
    switch (graph.node(id).op) {
      case graph::OpKind::dequantize:
      case graph::OpKind::dynamic_quantize:
      case graph::OpKind::matmul_integer:
      case graph::OpKind::matmul_nbits:
      case graph::OpKind::quantize:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

std::unique_ptr<Program> CpuBackend::compile(std::shared_ptr<const graph::Graph> graph,
                                             const CompileOptions& options) {
  if (options.precision == Precision::tf32) {
    throw Error(ErrorKind::unsupported, "the cpu backend has no tf32 precision",
                "Choose f32 or bf16.");
  }
  if (options.precision == Precision::int8 && !is_quantised_model(*graph)) {
    throw Error(ErrorKind::unsupported, "precision=int8 on a model of floats",
                "Quantise the model first; int8 models run as they are.");
  }
  return std::make_unique<CpuProgram>(std::move(graph), options);
}

}  // namespace concord::cpu
