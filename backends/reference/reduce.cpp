#include "backends/reference/reduce.h"

#include "backends/host/reduce.h"
#include "backends/reference/functions.h"

namespace concord::reference {
namespace {

using graph::ReduceFn;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// f over the elements x[inner[…]].
template <typename N>
N combine(ReduceFn fn, const double* x, std::span<const std::int64_t> inner) {
  Sum<N> sum;
  switch (fn) {
    case ReduceFn::max:
    case ReduceFn::min: {
      const bool largest = fn == ReduceFn::max;
      N best = number<N>(largest ? -kInfinity : kInfinity);
      for (const std::int64_t at : inner) {
        best = largest ? larger(best, number<N>(x[at])) : smaller(best, number<N>(x[at]));
      }
      return best;
    }
    case ReduceFn::prod: {
      N product = number<N>(1);
      bool first = true;
      for (const std::int64_t at : inner) {
        product = first ? number<N>(x[at]) : product * number<N>(x[at]);
        first = false;
      }
      return product;
    }
    case ReduceFn::sum:
    case ReduceFn::mean:
    case ReduceFn::log_sum: {
      for (const std::int64_t at : inner) sum.add(number<N>(x[at]));
      if (fn == ReduceFn::sum) return sum.result();
      if (fn == ReduceFn::log_sum) return log(sum.result());
      return sum.result() / number<N>(static_cast<double>(inner.size()));
    }
    case ReduceFn::l1:
      for (const std::int64_t at : inner) sum.add(number<N>(std::abs(x[at])));
      return sum.result();
    case ReduceFn::l2:
    case ReduceFn::sum_square:
      for (const std::int64_t at : inner) sum.add_product(number<N>(x[at]), number<N>(x[at]));
      return fn == ReduceFn::l2 ? sqrt(sum.result()) : sum.result();
    case ReduceFn::log_sum_exp: {
      N highest = number<N>(-kInfinity);
      for (const std::int64_t at : inner) highest = larger(highest, number<N>(x[at]));
      if (!std::isfinite(value_of(highest))) return highest;
      for (const std::int64_t at : inner) sum.add(exp(number<N>(x[at]) - highest));
      return highest + log(sum.result());
    }
  }
  return number<N>(0);
}

template <typename N>
std::vector<OracleValue> compute(const Call& call, ReduceFn fn, const host::ReduceWalk& walk) {
  const double* x = call.data(0);
  Output<N> y(call, 0, walk.shape);
  parallel_for(y.count(), grain_for(5.0 * static_cast<double>(walk.inner.size())),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   y.set(i,
                         combine<N>(fn, x + walk.outer[static_cast<std::size_t>(i)], walk.inner));
                 }
               });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return run_reduce(call, call.attrs().integers("axes"));
}

}  // namespace

std::vector<OracleValue> run_reduce(const Call& call, std::span<const std::int64_t> axes) {
  const ReduceFn fn = host::reduce_function(call.attrs().text("fn"));
  const bool keepdims = call.attrs().integer("keepdims") != 0;
  if (!is_float(call.declared_input(0))) {
    return {exact_output(call, 0, host::reduce_integers(call.input(0), fn, axes, keepdims))};
  }
  const host::ReduceWalk walk = host::walk_reduction(call.shape(0), axes, keepdims);
  return with_number(
      call, [&](auto tag) { return compute<typename decltype(tag)::type>(call, fn, walk); });
}

const Kernel reference_reduce{run};

}  // namespace concord::reference
