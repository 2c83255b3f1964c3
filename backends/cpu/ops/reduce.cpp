#include "backends/cpu/kernels/reduce.h"

#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"
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

// The input and its axes as they lie in memory, if it is a permuted dense tensor (an image with its
// channels last) and the axes that stay keep their order; else a dense copy.
struct InMemoryOrder {
  Ref at;
  Dims shape;
  std::uint32_t axes;
};

InMemoryOrder in_memory_order(Planner& p, std::uint32_t axes) {
  const View view = p.view(0);
  const auto order = permuted_order(view);
  bool fits = order.has_value();
  Dims shape;
  std::uint32_t mask = 0;
  int last = -1;
  for (std::size_t i = 0; fits && i < order->size(); ++i) {
    const int axis = (*order)[i];
    shape.push_back(view.shape[axis]);
    if ((axes >> axis & 1) != 0) {
      mask |= 1u << i;
    } else if (view.shape[axis] != 1) {
      fits = axis > last;
      last = axis;
    }
  }
  if (!fits) return {p.in(0), view.shape, axes};
  return {view.at, shape, mask};
}

PlanFn prepare(Compiler& c) {
  if (!runs_here(c.node(), c.dtype(0))) return prepare_host(c);
  const ReduceOp op = reduce_op(c.node());
  std::uint32_t axes = 0;
  for (int axis : c.integers("axes")) axes |= 1u << axis;
  return [op, axes, name = "reduce_" + c.attrs().text("fn")](Planner& p) {
    const auto [x, shape, mask] = in_memory_order(p, axes);
    const Ref y = p.out();
    p.emit(name, static_cast<double>(shape.count()),
           [op, mask = mask, shape = shape, x = x, y, type = element(p.dtype(0))](const Frame& f) {
             reduce(op, type, shape, mask, f.at(x), f.at(y));
           });
  };
}

}  // namespace

const Lowering cpu_reduce{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
