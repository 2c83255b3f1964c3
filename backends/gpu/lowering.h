#pragma once

// How core operators become dispatches. Each operator has lower/<name>.cpp, which defines
// `gpu_<name>`; those that the GPU backends don't have yet stand in lower/unsupported.cpp.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/backend.h"
#include "backends/gpu/device.h"
#include "backends/gpu/plan_builder.h"
#include "backends/gpu/weights.h"
#include "graph/graph.h"

namespace concord::gpu {

// A node and what it would run on.
struct Query {
  const graph::Graph& graph;
  const graph::Node& node;
  const DeviceProperties& properties;
  Precision precision;

  // The stored type of an input or output; undefined for one that is omitted or cannot be stored.
  DataType in(std::size_t i) const;
  DataType out(std::size_t i = 0) const;
  // As the model has it; undefined for one that is omitted.
  DataType in_dtype(std::size_t i) const;
  DataType out_dtype(std::size_t i = 0) const;
  // As kernels are named by it (type_suffix).
  std::string in_suffix(std::size_t i) const;
  std::int64_t in_rank(std::size_t i) const;  // −1 where it is not known
  // A reason if there is no kernel of this name that can run here.
  std::optional<std::string> need_kernel(const std::string& name) const;
};

class NodeLowering;

struct Lowering {
  std::optional<std::string> (*why_unsupported)(const Query& query);
  void (*lower)(NodeLowering& node);
};

#define CONCORD_OP(name) extern const Lowering gpu_##name;
#include "graph/ops.def"
#undef CONCORD_OP

const Lowering& lowering(graph::OpKind op);

// Why a node cannot run: its lowering's reason, or a type that cannot be stored.
std::optional<std::string> why_unsupported(const Query& query);

// The node that is being lowered, for given extents: gives operands, takes dispatches.
class NodeLowering {
 public:
  NodeLowering(PlanDraft& draft, Device& device, Weights& weights, const graph::Graph& graph,
               const graph::Node& node, const Bindings& bindings, Precision precision);

  const graph::Node& node() const { return node_; }
  const graph::Attributes& attrs() const { return node_.attrs; }
  const DeviceProperties& properties() const { return device_.properties(); }
  Precision precision() const { return precision_; }

  bool has(std::size_t i) const { return node_.has_input(i); }
  bool has_out(std::size_t i) const { return node_.output(i).valid(); }
  // An input where it lies; constants are uploaded on the way.
  Operand in(std::size_t i);
  Shape in_shape(std::size_t i) const { return shape_of(node_.input(i)); }
  DataType in_type(std::size_t i) const { return type_of(node_.input(i)); }
  // As the model has it.
  DataType in_dtype(std::size_t i) const { return graph_.value(node_.input(i)).dtype; }
  DataType out_dtype(std::size_t i = 0) const { return graph_.value(node_.output(i)).dtype; }
  // A constant input in another arrangement, as `Weights::get` makes it.
  Operand packed(std::size_t i, const std::string& arrangement, DataType dtype, Shape shape,
                 const Weights::Pack& pack);
  bool is_constant(std::size_t i) const;
  const Tensor& constant(std::size_t i) const;

  // An output, given memory at the first call.
  Operand out(std::size_t i = 0);
  Shape out_shape(std::size_t i = 0) const { return shape_of(node_.output(i)); }
  DataType out_type(std::size_t i = 0) const { return type_of(node_.output(i)); }
  // Brings outputs that kernels wrote back to what their types can hold (lower/narrow.h), unless
  // the operator only moved elements. Called once, when the node is lowered.
  void finish();
  // The output is `operand` seen under the output's shape: no data moves.
  void alias(std::size_t i, const Operand& operand);
  Operand temporary(DataType dtype, Shape shape);
  // Data known now, uploaded with the plan.
  Operand plan_constant(const Tensor& tensor);
  // The same elements under another shape.
  static Operand view(Operand operand, Shape shape);

  static DevicePtr read(const Operand& operand) { return pointer(operand, false, true); }
  static DevicePtr write(const Operand& operand) { return pointer(operand, true, false); }
  static DevicePtr update(const Operand& operand) { return pointer(operand, true, true); }

  template <class Params>
  void dispatch(const Kernel& kernel, std::array<std::uint32_t, 3> groups, const Params& params) {
    add_dispatch(DispatchCommand{&kernel, groups, param_bytes(kernel, params)});
  }
  template <class Params>
  void dispatch(const TypedKernel<Params>& kernel, std::array<std::uint32_t, 3> groups,
                const std::type_identity_t<Params>& params) {
    add_dispatch(DispatchCommand{&kernel.kernel, groups, param_bytes(kernel.kernel, params)});
  }
  void copy(const Operand& from, const Operand& to);  // equal sizes in bytes
  // Only where properties().library_matmul. Pointers are read() and write() of operands.
  void library_matmul(const LibraryMatmulCommand& command);
  void fill(const Operand& to, std::uint32_t bits);
  // Where a kernel says that an index was out of range: the run then fails and names the node.
  DevicePtr fault();

  // The kernel with this name, which takes `Params`; why_unsupported has made sure that there is
  // one.
  template <class Params>
  static const Kernel& kernel(const std::string& name) {
    return need(find_kernel_of<Params>(name), name);
  }

  // Extents under the plan's bindings.
  Shape dims(std::string_view attribute) const;
  std::int64_t dim(std::string_view attribute) const { return dims(attribute).at(0); }
  Shape evaluate(std::span<const Dim> shape) const;
  const Bindings& bindings() const { return bindings_; }
  // Elements of input i, where they're known without running.
  std::optional<std::vector<std::int64_t>> known(std::size_t i) const;

  // What the step's products are really made of.
  void set_operands(DataType dtype) { draft_.steps.back().precision.operand = dtype; }
  void add_flops(double flops) { draft_.steps.back().flops += flops; }

 private:
  Shape shape_of(graph::ValueId id) const;
  DataType type_of(graph::ValueId id) const;
  void add_dispatch(DispatchCommand command);
  static DevicePtr pointer(const Operand& operand, bool written, bool read);
  static const Kernel& need(const Kernel* kernel, const std::string& name);

  PlanDraft& draft_;
  Device& device_;
  Weights& weights_;
  const graph::Graph& graph_;
  const graph::Node& node_;
  const Bindings& bindings_;
  Precision precision_;
  std::vector<std::size_t> written_;  // outputs that have memory of their own
};

}  // namespace concord::gpu
