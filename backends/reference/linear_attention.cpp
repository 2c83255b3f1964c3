#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

void require_shape(const Call& call, std::size_t i, const Shape& wanted) {
  if (!call.has(i) || call.shape(i) == wanted) return;
  throw Error(ErrorKind::invalid, "operand " + std::to_string(i) + " of shape " +
                                      to_string(std::span<const std::int64_t>(call.shape(i))) +
                                      ", expected " +
                                      to_string(std::span<const std::int64_t>(wanted)));
}

struct Extents {
  std::int64_t batch, steps, q_heads, heads, depth, width;
};

// One head's state S [depth, width] through all steps.
template <typename N>
class Head {
 public:
  Head(const Call& call, const Extents& e, std::int64_t b, std::int64_t h)
      : call_(call), e_(e), b_(b), h_(h), state_(static_cast<std::size_t>(e.depth * e.width)) {
    if (!call.has(3)) return;
    const double* past = call.data(3) + (b * e.heads + h) * e.depth * e.width;
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = number<N>(past[i]);
  }

  void step(std::int64_t t, Output<N>& y) {
    const std::int64_t row = b_ * e_.steps + t;
    const double* k = call_.data(1) + (row * e_.heads + h_) * e_.depth;
    const double* v = call_.data(2) + (row * e_.heads + h_) * e_.width;
    if (call_.has(4)) {
      const bool per_depth = call_.shape(4)[2] != e_.heads;
      const double* gate =
          call_.data(4) + (per_depth ? (row * e_.heads + h_) * e_.depth : row * e_.heads + h_);
      for (std::int64_t d = 0; d < e_.depth; ++d) {
        const N factor = exp(number<N>(gate[per_depth ? d : 0]));
        for (std::int64_t c = 0; c < e_.width; ++c) at(d, c) = factor * at(d, c);
      }
    }
    for (std::int64_t c = 0; c < e_.width; ++c) {
      N value = number<N>(v[c]);
      if (call_.has(5)) {
        Sum<N> known;
        for (std::int64_t d = 0; d < e_.depth; ++d) known.add_product(at(d, c), number<N>(k[d]));
        const std::int64_t gates = call_.shape(5)[2];
        const double beta = call_.data(5)[row * gates + (gates == 1 ? 0 : h_)];
        value = number<N>(beta) * (value - known.result());
      }
      for (std::int64_t d = 0; d < e_.depth; ++d) at(d, c) = at(d, c) + number<N>(k[d]) * value;
    }
    const N scale = number<N>(call_.attrs().number("scale"));
    const std::int64_t group = e_.q_heads / e_.heads;
    for (std::int64_t g = 0; g < group; ++g) {
      const std::int64_t head = row * e_.q_heads + h_ * group + g;
      const double* q = call_.data(0) + head * e_.depth;
      for (std::int64_t c = 0; c < e_.width; ++c) {
        Sum<N> sum;
        for (std::int64_t d = 0; d < e_.depth; ++d) sum.add_product(at(d, c), number<N>(q[d]));
        y.set(head * e_.width + c, scale * sum.result());
      }
    }
  }

  void store(Output<N>& state) const {
    const std::int64_t first = (b_ * e_.heads + h_) * e_.depth * e_.width;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      state.set(first + static_cast<std::int64_t>(i), state_[i]);
    }
  }

 private:
  N& at(std::int64_t d, std::int64_t c) {
    return state_[static_cast<std::size_t>(d * e_.width + c)];
  }

  const Call& call_;
  const Extents& e_;
  std::int64_t b_, h_;
  std::vector<N> state_;
};

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const std::int64_t q_heads = call.attrs().integer("q_heads");
  const std::int64_t heads = call.attrs().integer("kv_heads");
  const Extents e{call.extent(0, 0),           call.extent(0, 1),        q_heads, heads,
                  call.extent(0, 2) / q_heads, call.extent(2, 2) / heads};
  require_shape(call, 0, {e.batch, e.steps, q_heads * e.depth});
  require_shape(call, 1, {e.batch, e.steps, heads * e.depth});
  require_shape(call, 2, {e.batch, e.steps, heads * e.width});
  require_shape(call, 3, {e.batch, heads, e.depth, e.width});
  if (call.has(4) && call.extent(4, 2) != heads) {
    require_shape(call, 4, {e.batch, e.steps, heads * e.depth});
  }
  if (call.has(5) && call.extent(5, 2) != heads) require_shape(call, 5, {e.batch, e.steps, 1});

  Output<N> y(call, 0, {e.batch, e.steps, q_heads * e.width});
  Output<N> state(call, 1, {e.batch, heads, e.depth, e.width});
  const double cost = 8.0 * static_cast<double>(e.steps * e.depth * e.width);
  parallel_for(e.batch * heads, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Head<N> head(call, e, i / heads, i % heads);
      for (std::int64_t t = 0; t < e.steps; ++t) head.step(t, y);
      head.store(state);
    }
  });
  std::vector<OracleValue> results{y.finish()};
  results.push_back(state.finish());
  return results;
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_linear_attention{run};

}  // namespace concord::reference
