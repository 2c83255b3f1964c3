// Operators on the bits of elements: shifts, masks, and the choice between two.

#include "backends/cpu/kernels/elementwise_exact.h"
#include "backends/cpu/kernels/elementwise_runs.h"

namespace concord::cpu {
namespace {

template <typename T>
T bitwise_of(BitOp op, T a, T b) {
  constexpr auto kBits = static_cast<T>(sizeof(T) * 8);
  switch (op) {
    case BitOp::bit_and:
      return static_cast<T>(a & b);
    case BitOp::bit_or:
      return static_cast<T>(a | b);
    case BitOp::bit_xor:
      return static_cast<T>(a ^ b);
    case BitOp::shift_left:
      return b >= kBits ? T{0} : static_cast<T>(a << b);
    case BitOp::shift_right:
      return b >= kBits ? T{0} : static_cast<T>(a >> b);
  }
  return a;
}

}  // namespace

void bitwise(BitOp op, Element type, std::span<const std::int64_t> shape, StridedOperand a,
             StridedOperand b, void* out) {
  // Shifts are those of the unsigned type; for and, or, xor the sign does not matter.
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const T* x = static_cast<const T*>(a.data);
    const T* z = static_cast<const T*>(b.data);
    T* y = static_cast<T*>(out);
    for_each_run<2>(shape, {a.stride, b.stride}, 1.5,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i) {
                        y[at + i] = bitwise_of<T>(op, x[offset[0] + i * step[0]],
                                                  z[offset[1] + i * step[1]]);
                      }
                    });
  };
  switch (element_size(type)) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    default:
      return run(std::uint64_t{});
  }
}

void bitwise_not(Element type, std::int64_t n, const void* x, void* out) {
  const auto* from = static_cast<const std::uint8_t*>(x);
  auto* to = static_cast<std::uint8_t*>(out);
  const std::int64_t bytes = n * static_cast<std::int64_t>(element_size(type));
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(~from[i]);
}

void select(std::size_t element_bytes, std::span<const std::int64_t> shape,
            StridedOperand condition, StridedOperand a, StridedOperand b, void* out) {
  const auto* c = static_cast<const std::uint8_t*>(condition.data);
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const T* x = static_cast<const T*>(a.data);
    const T* z = static_cast<const T*>(b.data);
    T* y = static_cast<T*>(out);
    for_each_run<3>(shape, {condition.stride, a.stride, b.stride}, 1,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i) {
                        y[at + i] = c[offset[0] + i * step[0]] != 0 ? x[offset[1] + i * step[1]]
                                                                    : z[offset[2] + i * step[2]];
                      }
                    });
  };
  struct Pair {
    std::uint64_t low, high;
  };
  switch (element_bytes) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    case 8:
      return run(std::uint64_t{});
    default:
      return run(Pair{});
  }
}

}  // namespace concord::cpu
