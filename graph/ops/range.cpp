#include <cmath>

#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// The number of steps of a floating-point range, if its ends are known.
std::optional<std::int64_t> float_length(Inference& in) {
  double v[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& constant = in.graph().value(in.node().inputs[i]).constant;
    if (!constant || constant->count() != 1) return std::nullopt;
    v[i] = constant->at_double(0);
  }
  if (v[2] == 0) mismatch("a delta other than 0", "0");
  const double steps = std::ceil((v[1] - v[0]) / v[2]);
  if (!(steps < 9e15)) mismatch("a range of finite length", std::to_string(steps));
  return steps > 0 ? static_cast<std::int64_t>(steps) : 0;
}

// The number of steps of an integer range; nullopt if its ends are not all numbers. Their
// difference need not fit 64 bits.
std::optional<std::int64_t> integer_length(const Dim& start, const Dim& limit, const Dim& delta) {
  const auto first = start.constant();
  const auto last = limit.constant();
  const auto step = delta.constant();
  if (!first || !last || !step) return std::nullopt;
  if (*step > 0 ? *first >= *last : *first <= *last) return 0;
  const auto span = static_cast<__int128>(*last) - *first;
  const __int128 steps = (span + *step + (*step > 0 ? -1 : 1)) / *step;
  constexpr std::int64_t most = std::int64_t{1} << 48;
  if (steps > most) {
    mismatch("a range of at most 2^48 elements",
             std::to_string(*first) + " to " + std::to_string(*last));
  }
  return static_cast<std::int64_t>(steps);
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (in.has(i)) in.require_same_type(0, i);
  }
  const DataType type = in.dtype(0);
  if (in.has(1)) {
    const Contents start = in.contents(0);
    const Contents limit = in.contents(1);
    const Contents delta = in.contents(2);
    std::optional<Dim> length;
    if (start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1) {
      if (delta->front().is_constant(0)) mismatch("a delta other than 0", "0");
      const auto steps = integer_length(start->front(), limit->front(), delta->front());
      length = steps ? Dim(*steps)
                     : Dim::max(0, Dim::ceil_div(limit->front() - start->front(), delta->front()));
    } else if (is_float(type)) {
      if (const auto steps = float_length(in)) length = Dim(*steps);
    }
    if (!length) {
      in.output(0, type, SymShape{in.dynamic(0, 0, "range")});
      return;
    }
    in.attrs().set("length", SymShape{*length});
    in.drop(1);
  }
  const Dim length = in.single_dim("length");
  Contents contents;
  const Contents start = in.contents(0);
  const Contents delta = in.contents(2);
  if (const auto n = length.constant(); n && *n <= kMaxContents && start && delta &&
                                        !is_float(type) && start->size() == 1 &&
                                        delta->size() == 1) {
    contents.emplace();
    for (std::int64_t i = 0; i < *n; ++i) {
      contents->push_back(start->front() + Dim(i) * delta->front());
    }
  }
  in.output(0, type, SymShape{length}, std::move(contents));
}

}  // namespace

const OpSchema schema_range{3, 3, 1, 1, infer_op};

}  // namespace concord::graph
