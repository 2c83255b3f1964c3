#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

bool runs_here(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::f64:
    case DataType::i8:
    case DataType::u8:
    case DataType::i32:
    case DataType::i64:
      return true;
    default:
      return false;
  }
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (runs_here(input_dtype(graph, node, 0))) return std::nullopt;
  return why_not_host(graph, node);
}

PlanFn prepare(Compiler& c) {
  if (!runs_here(c.dtype(0))) return prepare_host(c);
  return [axis = static_cast<int>(c.attrs().integer("axis")),
          smallest = c.attrs().text("fn") == "argmin",
          last = c.attrs().integer("select_last", 0) != 0](Planner& p) {
    const Dims shape = p.shape(0);
    ArgReduceArgs args;
    args.type = element(p.dtype(0));
    args.outer = shape.product(0, axis);
    args.n = shape[axis];
    args.inner = shape.product(axis + 1, shape.rank());
    args.smallest = smallest;
    args.last = last;
    const Ref x = p.in(0);
    const Ref y = p.out();
    p.emit(smallest ? "argmin" : "argmax", static_cast<double>(shape.count()),
           [args, x, y](const Frame& f) {
             ArgReduceArgs now = args;
             now.x = f.at(x);
             now.out = f.at<std::int64_t>(y);
             arg_reduce(now);
           });
  };
}

}  // namespace

const Lowering cpu_arg_reduce{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
