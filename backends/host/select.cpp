#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& condition = call.input(0);
  const Tensor& a = call.input(1);
  const Tensor& b = call.input(2);
  if (condition.dtype() != DataType::boolean || a.dtype() != b.dtype()) {
    fail("cannot select between " + std::string(to_string(a.dtype())) + " and " +
         std::string(to_string(b.dtype())) + " by " + std::string(to_string(condition.dtype())));
  }
  const Shape shape = broadcast_shapes(broadcast_shapes(condition.shape(), a.shape()), b.shape());
  Tensor y(a.dtype(), shape);
  with_raw(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = raw_mutable<T>(y).data();
    const auto* c = raw<std::uint8_t>(condition).data();
    const T* when_true = raw<T>(a).data();
    const T* when_false = raw<T>(b).data();
    for_each_row<4>(shape,
                    {contiguous_strides(shape), broadcast_strides(condition.shape(), shape),
                     broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)},
                    [&](const auto& at, std::int64_t count, const auto& step) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        to[at[0] + i * step[0]] = c[at[1] + i * step[1]] != 0
                                                      ? when_true[at[2] + i * step[2]]
                                                      : when_false[at[3] + i * step[3]];
                      }
                    });
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_select{nullptr, run, true};

}  // namespace concord::host
