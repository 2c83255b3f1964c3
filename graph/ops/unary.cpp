#include "graph/functions.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

std::optional<Dim> apply(UnaryFn fn, const Dim& x) {
  switch (fn) {
    case UnaryFn::identity:
    case UnaryFn::floor:  // contents are whole numbers
    case UnaryFn::ceil:
    case UnaryFn::round:
      return x;
    case UnaryFn::neg:
      return Dim(0) - x;
    case UnaryFn::abs:
      return Dim::max(x, Dim(0) - x);
    case UnaryFn::relu:
      return Dim::max(0, x);
    case UnaryFn::square:
      return x * x;
    case UnaryFn::logical_not:
      return Dim(1) - x;
    case UnaryFn::sign:
      return Dim::less(0, x) - Dim::less(x, 0);
    default:
      return std::nullopt;
  }
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const auto fn = parse_unary(in.attrs().text("fn"));
  if (!fn) mismatch("a unary function", "'" + in.attrs().text("fn") + "'");
  Contents contents = in.contents(0);
  if (contents) {
    for (Dim& d : *contents) {
      const auto y = apply(*fn, d);
      if (!y) {
        contents.reset();
        break;
      }
      d = *y;
    }
  }
  in.output(0, yields_bool(*fn) ? DataType::boolean : in.dtype(0), in.shape(0),
            std::move(contents));
}

}  // namespace

const OpSchema schema_unary{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
