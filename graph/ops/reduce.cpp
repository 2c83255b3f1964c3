#include "graph/functions.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

Contents reduce(ReduceFn fn, Inference& in, const std::vector<bool>& reduced) {
  const auto shape = static_shape(in.shape(0));
  if (!shape || !in.contents(0) || is_float(in.dtype(0))) return std::nullopt;
  // The result, in row-major order of the axes that stay.
  std::vector<std::int64_t> kept = *shape;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (reduced[k]) kept[k] = 1;
  }
  std::vector<std::optional<Dim>> result(static_cast<std::size_t>(element_count(kept)));
  const std::vector<Dim>& x = *in.contents(0);
  const std::vector<std::vector<std::int64_t>> operands{kept};
  for_each_broadcast(*shape, operands, [&](std::size_t i, std::span<const std::size_t> at) {
    std::optional<Dim>& y = result[at[0]];
    if (y && y->too_complex()) return;
    if (!y) {
      y = x[i];
    } else if (fn == ReduceFn::prod) {
      y = *y * x[i];
    } else if (fn == ReduceFn::sum) {
      y = *y + x[i];
    } else if (fn == ReduceFn::min) {
      y = Dim::min(*y, x[i]);
    } else {
      y = Dim::max(*y, x[i]);
    }
  });
  std::vector<Dim> flat;
  for (std::optional<Dim>& y : result) {
    if (!y && fn != ReduceFn::prod && fn != ReduceFn::sum) return std::nullopt;
    flat.push_back(y ? *y : Dim(fn == ReduceFn::prod ? 1 : 0));
  }
  return flat;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const auto fn = parse_reduce(in.attrs().text("fn"));
  if (!fn) mismatch("a reduction", "'" + in.attrs().text("fn") + "'");
  if (!in.rank(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape x = *in.shape(0);
  std::vector<bool> reduced(x.size(), false);
  std::vector<std::int64_t> axes;
  for (const std::int64_t a : in.attrs().integers("axes")) {
    reduced[static_cast<std::size_t>(checked_axis(a, *in.rank(0)))] = true;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (reduced[k]) axes.push_back(static_cast<std::int64_t>(k));
  }
  in.attrs().set("axes", axes);
  const bool keep = in.attrs().integer("keepdims") != 0;
  SymShape y;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!reduced[k]) {
      y.push_back(x[k]);
    } else if (keep) {
      y.emplace_back(1);
    }
  }
  Contents contents;
  if (*fn == ReduceFn::prod || *fn == ReduceFn::sum || *fn == ReduceFn::min ||
      *fn == ReduceFn::max) {
    contents = reduce(*fn, in, reduced);
  }
  in.output(0, in.dtype(0), std::move(y), std::move(contents));
}

}  // namespace

const OpSchema schema_reduce{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
