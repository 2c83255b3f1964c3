#include "backends/host/host.h"

#include <array>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "graph/error.h"

namespace concord::host {
namespace {

const Kernel& kernel_of(graph::OpKind op) {
  static constexpr std::array kKernels = {
#define CONCORD_OP(name) &host_##name,
#include "graph/ops.def"
#undef CONCORD_OP
  };
  return *kKernels[static_cast<std::size_t>(op)];
}

}  // namespace

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const Kernel& kernel = kernel_of(node.op);
  if (kernel.run == nullptr) return "not an operator of the host";
  return kernel.why_unsupported ? kernel.why_unsupported(graph, node) : std::nullopt;
}

std::vector<Tensor> run(const graph::Graph& graph, const graph::Node& node,
                        std::span<const Tensor> inputs, const Bindings& bindings) {
  const Kernel& kernel = kernel_of(node.op);
  if (kernel.run == nullptr) {
    throw Error(ErrorKind::failed, "internal: " + graph::describe(node) + " is not the host's");
  }
  bool packed = false;
  if (kernel.moves) {
    for (const Tensor& t : inputs) packed = packed || (t.defined() && is_sub_byte(t.dtype()));
  }
  if (!packed) return kernel.run({graph, node, inputs, bindings});

  std::vector<Tensor> wide(inputs.begin(), inputs.end());
  DataType element = DataType::undefined;
  for (Tensor& t : wide) {
    if (!t.defined() || !is_sub_byte(t.dtype())) continue;
    element = t.dtype();
    t = unpacked(t);
  }
  std::vector<Tensor> outputs = kernel.run({graph, node, wide, bindings});
  for (Tensor& t : outputs) {
    if (t.defined() && t.dtype() == DataType::u8) t = packed_as(element, t);
  }
  return outputs;
}

}  // namespace concord::host
