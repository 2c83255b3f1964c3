#include "backends/gpu/kernels/pad.h"

#include <map>

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in_rank(0) > static_cast<std::int64_t>(kMaxAxes)) return "more than 6 axes";
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("pad_") + move_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  static const std::map<std::string, std::int32_t> modes{
      {"constant", 0}, {"reflect", 1}, {"edge", 2}, {"wrap", 3}};
  const Operand x = node.in(0);
  const Operand y = node.out();
  const Shape pads = node.dims("pads");  // begin…, end…
  const std::size_t rank = x.shape.size();
  const std::size_t front = kMaxAxes - rank;
  Axes y_extents{1, 1, 1, 1, 1, 1};
  Axes x_extents{1, 1, 1, 1, 1, 1};
  Axes before{};
  for (std::size_t i = 0; i < rank; ++i) {
    y_extents[front + i] = to_i32(y.shape[i]);
    x_extents[front + i] = to_i32(x.shape[i]);
    before[front + i] = static_cast<std::int32_t>(pads[i]);
  }
  using Params = kernels::PadParams;
  Params params{node.read(x),
                node.write(y),
                node.has(2) ? node.read(node.in(2)) : DevicePtr{},
                to_i32(y.count()),
                static_cast<std::int32_t>(rank),
                modes.at(node.attrs().text("mode"))};
  set_ints(params, &Params::d1, std::span(y_extents).subspan(1));
  set_ints(params, &Params::x0, x_extents);
  set_ints(params, &Params::before0, before);
  node.dispatch(node.kernel<Params>(std::string("pad_") + move_suffix(x.dtype)),
                flat_groups(y.count()), params);
}

}  // namespace

const Lowering gpu_pad{why, lower};

}  // namespace concord::gpu
