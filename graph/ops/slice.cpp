#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// Numbers that stand for "to the end" (and beyond) in exported models.
constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();

Dim clamp(const Dim& v, const Dim& low, const Dim& high) {
  return Dim::max(low, Dim::min(v, high));
}

// v counted from the front.
Dim from_front(const Dim& v, const Dim& size) {
  if (const auto c = v.constant()) {
    if (*c <= -kFar) return Dim(-kFar);
    if (*c >= kFar) return Dim(kFar);
  }
  return Dim::select(Dim::less(v, 0), v + size, v);
}

Dim extent(const Dim& size, const Dim& start, const Dim& end, std::int64_t step) {
  const auto at_least = [](const Dim& d, std::int64_t v) {
    const auto low = d.lower_bound();
    return low && *low >= v;
  };
  const auto far_start = start.constant();
  const auto far_end = end.constant();
  if (step > 0) {
    const bool to_the_end = far_end && *far_end >= kFar;
    if (to_the_end && at_least(start, 0) && !(far_start && *far_start >= kFar)) {
      return Dim::max(0, Dim::ceil_div(size - start, step));
    }
    const Dim first = far_start && *far_start <= -kFar  ? Dim(0)
                      : far_start && *far_start >= kFar ? size
                                                        : clamp(from_front(start, size), 0, size);
    const Dim last = to_the_end                     ? size
                     : far_end && *far_end <= -kFar ? Dim(0)
                                                    : clamp(from_front(end, size), 0, size);
    return Dim::max(0, Dim::ceil_div(last - first, step));
  }
  const Dim first = far_start && *far_start >= kFar
                        ? size - Dim(1)
                        : clamp(from_front(start, size), 0, size - Dim(1));
  const Dim last =
      far_end && *far_end <= -kFar ? Dim(-1) : clamp(from_front(end, size), -1, size - Dim(1));
  // Of nothing, nothing: the bounds above cross there.
  return Dim::min(size, Dim::max(0, Dim::ceil_div(first - last, Dim(0) - Dim(step))));
}

// Moves known operands into the attributes; false if one is not known.
bool absorb(Inference& in) {
  if (!in.has(1)) return true;
  const Contents starts = in.contents(1);
  const Contents ends = in.contents(2);
  const auto axes = in.constant_contents(3);
  const auto steps = in.constant_contents(4);
  if (!starts || !ends || (in.has(3) && !axes) || (in.has(4) && !steps)) return false;
  const std::size_t n = starts->size();
  std::vector<std::int64_t> all_axes = axes.value_or(std::vector<std::int64_t>{});
  for (std::size_t k = 0; !axes && k < n; ++k) all_axes.push_back(static_cast<std::int64_t>(k));
  std::vector<std::int64_t> all_steps = steps.value_or(std::vector<std::int64_t>(n, 1));
  if (ends->size() != n || all_axes.size() != n || all_steps.size() != n) {
    mismatch("as many ends, axes and steps as starts",
             std::to_string(n) + " starts, " + std::to_string(ends->size()) + " ends, " +
                 std::to_string(all_axes.size()) + " axes, " + std::to_string(all_steps.size()) +
                 " steps");
  }
  in.attrs().set("starts", SymShape(*starts));
  in.attrs().set("ends", SymShape(*ends));
  in.attrs().set("axes", std::move(all_axes));
  in.attrs().set("steps", std::move(all_steps));
  for (const std::size_t i : {std::size_t{4}, std::size_t{3}, std::size_t{2}, std::size_t{1}}) {
    in.drop(i);
  }
  return true;
}

Contents slice(Inference& in) {
  const auto shape = static_shape(in.shape(0));
  const Contents from = in.contents(0);
  if (!shape || !from || !is_static(in.attrs().dims("starts")) ||
      !is_static(in.attrs().dims("ends"))) {
    return std::nullopt;
  }
  const std::vector<SliceAxis> cut = slice_geometry(in.node(), *shape, {}, {});
  const Shape strides = contiguous_strides(*shape);
  std::int64_t count = 1;
  for (const SliceAxis& axis : cut) count *= axis.count;
  Shape index(cut.size(), 0);
  std::vector<Dim> y;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < cut.size(); ++k) {
      at += (cut[k].start + index[k] * cut[k].step) * strides[k];
    }
    y.push_back((*from)[static_cast<std::size_t>(at)]);
    for (std::size_t k = cut.size(); k-- > 0;) {
      if (++index[k] < cut[k].count) break;
      index[k] = 0;
    }
  }
  return y;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const bool known = absorb(in);
  if (!in.rank(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  if (!known) {
    SymShape y = *in.shape(0);
    const auto axes = in.has(3) ? in.constant_contents(3) : std::nullopt;
    for (std::size_t k = 0; k < y.size(); ++k) {
      bool cut = !axes;
      if (axes) {
        for (const std::int64_t a : *axes) {
          cut = cut || checked_axis(a, *in.rank(0)) == static_cast<std::int64_t>(k);
        }
      }
      if (cut) y[k] = in.dynamic(0, k, "slice");
    }
    in.output(0, in.dtype(0), std::move(y));
    return;
  }
  SymShape y = *in.shape(0);
  std::vector<std::int64_t> axes = in.attrs().integers("axes");
  const SymShape& starts = in.attrs().dims("starts");
  const SymShape& ends = in.attrs().dims("ends");
  const auto& steps = in.attrs().integers("steps");
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size()) {
    mismatch("as many starts, ends and steps as axes",
             concord::to_string(starts) + ", " + concord::to_string(ends));
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    axes[k] = checked_axis(axes[k], *in.rank(0));
    if (steps[k] == 0) mismatch("a step other than 0", "0");
    if (steps[k] == std::numeric_limits<std::int64_t>::min()) mismatch("a small step", "−2^63");
    Dim& d = y[static_cast<std::size_t>(axes[k])];
    d = extent(d, starts[k], ends[k], steps[k]);
  }
  in.attrs().set("axes", std::move(axes));
  Contents contents = slice(in);
  in.output(0, in.dtype(0), std::move(y), std::move(contents));
}

}  // namespace

const OpSchema schema_slice{1, 5, 1, 1, infer_op};

}  // namespace concord::graph
