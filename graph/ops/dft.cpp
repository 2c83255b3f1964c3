#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_rank_at_least(0, 2);
  if (in.has(1)) {
    in.require_integer(1);
    in.absorb_dims(1, "length");
  }
  if (in.has(2)) {
    in.require_integer(2);
    in.absorb_integer(2, "axis");
  }
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  const bool inverse = in.attrs().integer("inverse") != 0;
  const bool onesided = in.attrs().integer("onesided") != 0;
  SymShape shape = *in.shape(0);
  const std::size_t last = shape.size() - 1;
  if (const auto parts = shape[last].constant()) {
    if (*parts != 1 && *parts != 2) {
      mismatch("1 or 2 parts of a number on the last axis", in.describe_input(0));
    }
    if (onesided && *parts != (inverse ? 2 : 1)) {
      mismatch(inverse ? "complex frequencies" : "a real signal, since it is one-sided",
               in.describe_input(0));
    }
  }
  const bool real = inverse && onesided;
  if (!in.attrs().has("axis")) {
    for (std::size_t d = 0; d < last; ++d) shape[d] = in.dynamic(0, d, "dft");
    shape[last] = real ? 1 : 2;
    in.output(0, in.dtype(0), std::move(shape));
    return;
  }
  const auto axis = static_cast<std::size_t>(in.axis("axis", *in.rank(0)));
  if (axis == last) {
    mismatch("an axis before the last, which holds the parts of a number",
             "axis " + std::to_string(axis) + " of " + in.describe_input(0));
  }
  Dim length = real ? Dim(2) * (shape[axis] - Dim(1)) : shape[axis];
  if (in.attrs().has("length")) {
    length = in.single_dim("length");
  } else if (in.has(1)) {
    length = in.dynamic(0, axis, "dft");
  }
  if (const auto n = length.constant(); n && *n < 1) {
    mismatch("a positive length of the transform", std::to_string(*n));
  }
  const bool half = onesided && !inverse;
  shape[axis] = !half       ? length
                : in.has(1) ? in.dynamic(0, axis, "dft")
                            : Dim::floor_div(length, 2) + Dim(1);
  shape[last] = real ? 1 : 2;
  in.output(0, in.dtype(0), std::move(shape));
}

}  // namespace

const OpSchema schema_dft{1, 3, 1, 1, infer_op};

}  // namespace concord::graph
