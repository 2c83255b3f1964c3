#include "backends/cpu/kernels/reduce.h"

#include "backends/cpu/ops/common.h"
#include "graph/functions.h"

namespace concord::cpu {
namespace {

ReduceOp reduce_op(const graph::Node& node) {
  using graph::ReduceFn;
  const auto fn = graph::parse_reduce(node.attrs.text("fn"));
  if (!fn) throw Error(ErrorKind::failed, "internal: unknown reduction");
  switch (*fn) {
    case ReduceFn::l1:
      return ReduceOp::l1;
    case ReduceFn::l2:
      return ReduceOp::l2;
    case ReduceFn::log_sum:
      return ReduceOp::log_sum;
    case ReduceFn::log_sum_exp:
      return ReduceOp::log_sum_exp;
    case ReduceFn::max:
      return ReduceOp::max;
    case ReduceFn::mean:
      return ReduceOp::mean;
    case ReduceFn::min:
      return ReduceOp::min;
    case ReduceFn::prod:
      return ReduceOp::prod;
    case ReduceFn::sum:
      return ReduceOp::sum;
    case ReduceFn::sum_square:
      return ReduceOp::sum_square;
  }
  throw Error(ErrorKind::failed, "internal: unknown reduction");
}

bool runs_here(const graph::Node& node, DataType dtype) {
  return element_of(dtype) && supports_reduce(reduce_op(node), element(dtype));
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  if (runs_here(node, dtype)) return std::nullopt;
  if (is_float(dtype)) return type_reason(dtype);
  return why_not_host(graph, node);
}

PlanFn prepare(Compiler& c) {
  if (!runs_here(c.node(), c.dtype(0))) return prepare_host(c);
  const ReduceOp op = reduce_op(c.node());
  std::uint32_t axes = 0;
  for (int axis : c.integers("axes")) axes |= 1u << axis;
  return [op, axes, name = "reduce_" + c.attrs().text("fn")](Planner& p) {
    const Dims shape = p.shape(0);
    const Ref x = p.in(0);
    const Ref y = p.out();
    p.emit(name, static_cast<double>(shape.count()),
           [op, axes, shape, x, y, type = element(p.dtype(0))](const Frame& f) {
             reduce(op, type, shape, axes, f.at(x), f.at(y));
           });
  };
}

}  // namespace

const Lowering cpu_reduce{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
