#include "backends/gpu/kernels/rotary.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/indices.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("rotary_") + type_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand cosines = node.in(1);
  const Operand sines = node.in(2);
  const Operand y = node.out();
  if (y.count() == 0) return;
  require_elements(cosines);
  const bool sequence_first = node.attrs().text("layout") == "bshd";
  const std::int64_t depth = x.shape[3];
  const std::int64_t wanted = node.attrs().integer("rotary_dim");
  const std::int64_t rotary = wanted == 0 ? depth : wanted;
  kernels::RotaryParams params;
  params.x = node.read(x);
  params.cos = node.read(cosines);
  params.sin = node.read(sines);
  params.y = node.write(y);
  params.fault = node.fault();
  params.n = to_i32(x.count() / depth * (depth - rotary / 2));
  params.p = to_i32(x.shape[1]);
  params.q = to_i32(x.shape[2]);
  params.depth = to_i32(depth);
  params.rotary = to_i32(rotary);
  params.interleaved = static_cast<std::int32_t>(node.attrs().integer("interleaved"));
  params.sequence_first = sequence_first ? 1 : 0;
  params.width = to_i32(cosines.shape.back());
  const std::int64_t sequence = sequence_first ? x.shape[1] : x.shape[2];
  if (node.has(3)) {
    const Operand positions = node.in(3);  // [B|1, S]
    params.positions = node.read(positions);
    params.positions_batch = positions.count() > sequence ? to_i32(sequence) : 0;
    params.length = to_i32(cosines.count() / cosines.shape.back());
  } else {
    // [B|1, S, width]: rows of the next batch element follow after S.
    const std::int64_t rows = cosines.count() / cosines.shape.back();
    params.cos_batch = rows > sequence ? to_i32(sequence) : 0;
  }
  node.dispatch(node.kernel<kernels::RotaryParams>(std::string("rotary_") + type_suffix(x.dtype)),
                flat_groups(params.n), params);
  node.add_flops(3.0 * static_cast<double>(x.count()));
}

}  // namespace

const Lowering gpu_rotary{why, lower};

}  // namespace concord::gpu
