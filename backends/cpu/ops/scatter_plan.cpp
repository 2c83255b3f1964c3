#include "backends/cpu/ops/scatter_plan.h"

#include "backends/cpu/kernels/copy.h"

namespace concord::cpu {

bool scatters_here(DataType dtype, ScatterOp op) {
  if (!element_of(dtype)) return false;
  if (op == ScatterOp::none) return true;
  switch (dtype) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::f64:
    case DataType::i32:
    case DataType::i64:
    case DataType::u8:
    case DataType::i8:
      return true;
    default:
      return false;
  }
}

std::optional<std::string> why_not_scatter(const graph::Graph& graph, const graph::Node& node) {
  if (scatters_here(input_dtype(graph, node, 0), scatter_op(node))) return std::nullopt;
  return why_not_host(graph, node);
}

ScatterOp scatter_op(const graph::Node& node) {
  const std::string reduction = node.attrs.text("reduction", "none");
  if (reduction == "add") return ScatterOp::add;
  if (reduction == "mul") return ScatterOp::mul;
  if (reduction == "max") return ScatterOp::max;
  if (reduction == "min") return ScatterOp::min;
  return ScatterOp::none;
}

Ref plan_scatter_copy(Planner& p) {
  const Ref x = p.in(0);
  const auto bytes = static_cast<std::size_t>(p.view(0).bytes());
  const Ref y = p.out_over(0, 1);
  if (x.area != y.area || x.offset != y.offset) {
    p.emit([x, y, bytes](const Frame& f) { copy_bytes(bytes, f.at(x), f.at(y)); });
  }
  return y;
}

}  // namespace concord::cpu
