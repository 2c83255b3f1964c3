#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.out() == DataType::undefined) return std::nullopt;
  return why_no_cast(query, DataType::f32, query.out());
}

void lower(NodeLowering& node) {
  const Shape shape = node.out_shape();  // [rows, columns]
  const std::int64_t k = node.attrs().integer("k", 0);
  Tensor eye = Tensor::zeros(DataType::i32, shape);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const std::int64_t column = row + k;
    if (column < 0 || column >= shape[1]) continue;
    eye.as_mutable<std::int32_t>()[static_cast<std::size_t>(row * shape[1] + column)] = 1;
  }
  node.alias(0, emit_cast(node, node.plan_constant(eye), node.out_type()));
}

}  // namespace

const Lowering gpu_eye_like{why, lower};

}  // namespace concord::gpu
