#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// The operand with its 0 (copy) and −1 (infer) resolved, or nullopt if it cannot be.
std::optional<SymShape> resolve(Inference& in, const SymShape& wanted, bool allow_zero) {
  SymShape shape = wanted;
  std::optional<std::size_t> inferred;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k].is_constant(-1)) {
      if (inferred) mismatch("at most one −1 in the shape", concord::to_string(wanted));
      inferred = k;
    } else if (shape[k].is_constant(0) && !allow_zero) {
      if (!in.shape(0)) return std::nullopt;
      if (k >= in.shape(0)->size()) {
        mismatch("a 0 only where the input has an axis", concord::to_string(wanted));
      }
      shape[k] = (*in.shape(0))[k];
    }
  }
  if (inferred) {
    if (!in.shape(0)) return std::nullopt;
    // Axes that stay are left out of the division, since they may be 0.
    SymShape from = *in.shape(0);
    SymShape others = shape;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*inferred));
    for (auto it = others.begin(); it != others.end();) {
      const auto same = std::find(from.begin(), from.end(), *it);
      if (same == from.end()) {
        ++it;
        continue;
      }
      from.erase(same);
      it = others.erase(it);
    }
    const Dim total = product(from);
    const Dim rest = product(others);
    if (rest.is_constant(0)) mismatch("a −1 that can be computed", concord::to_string(wanted));
    if (const auto exact = Dim::exact_div(total, rest)) {
      shape[*inferred] = *exact;
    } else if (total.is_constant() && rest.is_constant()) {
      mismatch("a shape that divides the elements of " + in.describe_input(0),
               concord::to_string(wanted));
    } else {
      shape[*inferred] = Dim::floor_div(total, rest);
    }
  }
  if (in.shape(0)) {
    const Dim before = product(*in.shape(0));
    const Dim after = product(shape);
    if (before.is_constant() && after.is_constant() && !(before == after)) {
      mismatch("a shape of " + before.to_string() + " elements for " + in.describe_input(0),
               concord::to_string(shape));
    }
  }
  return shape;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) {
    in.require_integer(1);
    in.require_rank(1, 1);
    std::optional<SymShape> shape;
    if (in.contents(1)) {
      shape = resolve(in, *in.contents(1), in.attrs().integer("allow_zero", 0) != 0);
    }
    if (!shape) {
      const auto length = in.shape(1) ? in.shape(1)->front().constant() : std::nullopt;
      if (length && *length <= 64) {
        in.output(0, in.dtype(0), in.dynamic_shape(0, *length));
      } else {
        in.output(0, in.dtype(0));
      }
      return;
    }
    in.attrs().set("shape", std::move(*shape));
    in.drop(1);
  } else {
    auto shape = resolve(in, in.attrs().dims("shape"), true);
    if (!shape) {
      in.output(0, in.dtype(0));
      return;
    }
    in.attrs().set("shape", std::move(*shape));
  }
  const SymShape shape = in.attrs().dims("shape");
  Contents contents;
  if (is_static(shape)) contents = in.contents(0);
  in.output(0, in.dtype(0), shape, std::move(contents));
}

}  // namespace

const OpSchema schema_reshape{1, 2, 1, 1, infer_op};

}  // namespace concord::graph
