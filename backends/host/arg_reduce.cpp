#include <cmath>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// Whether `a` is chosen before `b`, wherever they stand. The first NaN wins, as in numpy.
template <typename T>
bool beats(const T& a, const T& b, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return false;
    if (std::isnan(a)) return true;
  }
  return largest ? b < a : a < b;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::size_t axis = call.axis(x.rank());
  const bool largest = call.node.attrs.text("fn") == "argmax";
  const bool last = call.node.attrs.integer("select_last", 0) != 0;
  const std::int64_t extent = x.shape()[axis];
  const std::int64_t inner = extent_product(x.shape(), axis + 1, x.shape().size());
  Shape shape = x.shape();
  shape[axis] = 1;
  if (call.node.attrs.integer("keepdims") == 0) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  Tensor y(DataType::i64, shape);
  if (extent == 0 && y.count() > 0) {
    fail("the " + call.node.attrs.text("fn") + " of an axis without elements: shape " +
         to_string(std::span<const std::int64_t>(x.shape())));
  }
  const auto to = y.as_mutable<std::int64_t>();
  with_values(x, [&](auto values) {
    for (std::size_t o = 0; o < to.size(); ++o) {
      const auto flat = static_cast<std::int64_t>(o);
      const std::int64_t base = flat / inner * extent * inner + flat % inner;
      const auto at = [&](std::int64_t i) {
        return values[static_cast<std::size_t>(base + i * inner)];
      };
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < extent; ++i) {
        const bool better =
            last ? !beats(at(best), at(i), largest) : beats(at(i), at(best), largest);
        if (better) best = i;
      }
      to[o] = best;
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_arg_reduce{nullptr, run};

}  // namespace concord::host
