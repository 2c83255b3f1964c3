#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const std::size_t n = in.node().outputs.size();
  if (in.has(1)) {
    in.require_integer(1);
    in.absorb_dims(1, "sizes");
  }
  if (!in.rank(0)) {
    for (std::size_t o = 0; o < n; ++o) in.output(o, in.dtype(0));
    return;
  }
  const SymShape x = *in.shape(0);
  const auto axis = static_cast<std::size_t>(in.axis("axis", *in.rank(0)));
  if (!in.attrs().has("sizes") && !in.has(1)) {
    // Equal parts; the last is smaller if they do not come out even.
    const auto parts = static_cast<std::int64_t>(n);
    const Dim part = Dim::ceil_div(x[axis], parts);
    SymShape sizes(n, part);
    sizes.back() = x[axis] - part * Dim(parts - 1);
    in.attrs().set("sizes", std::move(sizes));
  }
  if (in.attrs().has("sizes")) {
    const SymShape& sizes = in.attrs().dims("sizes");
    if (sizes.size() != n) {
      mismatch(std::to_string(n) + " sizes", std::to_string(sizes.size()));
    }
    Dim sum(0);
    for (const Dim& d : sizes) sum = sum + d;
    if (sum.is_constant() && x[axis].is_constant() && !(sum == x[axis])) {
      mismatch("sizes whose sum is " + x[axis].to_string(), concord::to_string(sizes));
    }
  }
  const Contents from = in.contents(0);
  std::int64_t begin = 0;
  bool follow = from && x.size() == 1 && in.attrs().has("sizes");
  for (std::size_t o = 0; o < n; ++o) {
    SymShape y = x;
    y[axis] = in.attrs().has("sizes") ? in.attrs().dims("sizes")[o] : in.dynamic(o, axis, "split");
    Contents contents;
    const auto size = y[axis].constant();
    follow =
        follow && size && *size >= 0 && begin + *size <= static_cast<std::int64_t>(from->size());
    if (follow) {
      contents = std::vector<Dim>(from->begin() + begin, from->begin() + begin + *size);
      begin += *size;
    }
    in.output(o, in.dtype(0), std::move(y), std::move(contents));
  }
}

}  // namespace

const OpSchema schema_split{1, 2, 1, -1, infer_op};

}  // namespace concord::graph
