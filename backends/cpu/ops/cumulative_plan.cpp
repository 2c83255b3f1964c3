#include "backends/cpu/ops/cumulative_plan.h"

namespace concord::cpu {
namespace {

bool runs_here(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::f64:
    case DataType::i32:
    case DataType::i64:
      return true;
    default:
      return false;
  }
}

std::int64_t read_axis(DataType dtype, const std::byte* at, int rank) {
  std::int64_t axis = 0;
  if (dtype == DataType::i32) {
    axis = *reinterpret_cast<const std::int32_t*>(at);
  } else {
    axis = *reinterpret_cast<const std::int64_t*>(at);
  }
  if (axis < -rank || axis >= rank) {
    throw Error(ErrorKind::invalid,
                "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

std::optional<std::string> why_not_cumulative(const graph::Graph& graph, const graph::Node& node) {
  if (runs_here(input_dtype(graph, node, 0))) return std::nullopt;
  return why_not_host(graph, node);
}

PlanFn prepare_cumulative(Compiler& c, CumulativeOp op) {
  if (!runs_here(c.dtype(0))) return prepare_host(c);
  return [op, known = c.attrs().integer("axis", -1),
          exclusive = c.attrs().integer("exclusive", 0) != 0,
          reverse = c.attrs().integer("reverse", 0) != 0](Planner& p) {
    const Dims shape = p.shape(0);
    const Element type = is_half(p.dtype(0)) ? Element::f32 : element(p.dtype(0));
    const Ref x = p.in_f32(0);
    const Ref axis_at = known < 0 ? p.in(1) : Ref{};
    const DataType axis_type = known < 0 ? p.dtype(1) : DataType::i64;
    const Ref y = p.out_f32(0);
    const char* name = op == CumulativeOp::sum ? "cum_sum" : "cum_prod";
    p.emit(name, static_cast<double>(shape.count()), [=](const Frame& f) {
      const auto axis =
          static_cast<int>(axis_at ? read_axis(axis_type, f.at(axis_at), shape.rank()) : known);
      cumulative(op, type, shape.product(0, axis), shape[axis],
                 shape.product(axis + 1, shape.rank()), f.at(x), f.at(y), exclusive, reverse);
    });
  };
}

}  // namespace concord::cpu
