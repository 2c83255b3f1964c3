#include "backends/gpu/kernels/dft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/wide.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.node.has_input(1) || query.node.has_input(2)) {
    return "a length or an axis that only the run knows";
  }
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("dft_") + type_suffix(computed_float(query.in(0))));
}

// sin(2π·q/(4n)), from an angle in the first eighth of the circle.
double sine_of(std::int64_t q, std::int64_t n) {
  if (q >= 2 * n) return -sine_of(q - 2 * n, n);
  if (q > n) q = 2 * n - q;
  const auto angle = [n](std::int64_t part) {
    return std::numbers::pi * static_cast<double>(part) / static_cast<double>(2 * n);
  };
  return 2 * q <= n ? std::sin(angle(q)) : std::cos(angle(n - q));
}

// Cosines and sines of 2π·k/n.
template <typename T>
Tensor circle_of(std::int64_t n) {
  std::vector<T> table;
  for (std::int64_t k = 0; k < n; ++k) {
    table.push_back(static_cast<T>(sine_of((4 * k + n) % (4 * n), n)));
    table.push_back(static_cast<T>(sine_of(4 * k, n)));
  }
  return Tensor::of<T>({n, 2}, std::span<const T>(table));
}

void lower(NodeLowering& node) {
  const Operand out = node.out();
  const Operand source = node.in(0);
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const bool inverse = node.attrs().integer("inverse") != 0;
  const bool real_result = inverse && node.attrs().integer("onesided") != 0;
  const Shape& shape = source.shape;
  if (axis + 1 >= shape.size() || (shape.back() != 1 && shape.back() != 2)) {
    throw Error(ErrorKind::invalid, "a tensor of shape " + to_string(shape) +
                                        " has no numbers along axis " + std::to_string(axis));
  }
  const std::int64_t given = shape[axis];
  std::int64_t length = real_result ? 2 * (given - 1) : given;
  if (node.attrs().has("length")) length = node.dim("length");
  if (length < 1) {
    throw Error(ErrorKind::invalid, "a transform of length " + std::to_string(length));
  }
  if (out.count() == 0) return;
  const DataType type = computed_float(source.dtype);
  const Operand x = emit_cast(node, source, type);
  const Operand y = out.dtype == type ? out : node.temporary(type, out.shape);
  const Operand circle = node.plan_constant(type == DataType::f64 ? circle_of<double>(length)
                                                                  : circle_of<float>(length));
  const std::int64_t parts = shape.back();
  const std::int64_t read = std::min(given, real_result ? length / 2 + 1 : length);
  const std::int64_t n = out.count() / out.shape.back();
  kernels::DftParams params{node.read(x), node.read(circle), node.write(y)};
  params.n = to_i32(n);
  params.length = to_i32(length);
  params.given = to_i32(given);
  params.read = to_i32(read);
  params.written = to_i32(out.shape[axis]);
  params.inner = to_i32(element_count(std::span(shape).subspan(axis + 1)) / parts);
  params.parts = to_i32(parts);
  params.inverse = inverse ? 1 : 0;
  params.real_result = real_result ? 1 : 0;
  node.dispatch(node.kernel<kernels::DftParams>(std::string("dft_") + type_suffix(type)),
                flat_groups(n, 64), params);
  if (out.dtype != type) emit_cast(node, y, out, false);
  node.add_flops(static_cast<double>(n) * static_cast<double>(read * parts) * 4);
}

}  // namespace

const Lowering gpu_dft{why, lower};

}  // namespace concord::gpu
