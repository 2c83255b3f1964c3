#include "backends/gpu/lowering.h"

namespace concord::gpu {

const Lowering gpu_eye_like{[](const Query&) -> std::optional<std::string> { return std::nullopt; },
                            [](NodeLowering& node) {
                              const Shape shape = node.out_shape();  // [rows, columns]
                              const std::int64_t k = node.attrs().integer("k", 0);
                              const bool floats = is_float(node.out_dtype());
                              Tensor eye =
                                  Tensor::zeros(floats ? DataType::f32 : DataType::i64, shape);
                              for (std::int64_t row = 0; row < shape[0]; ++row) {
                                const std::int64_t column = row + k;
                                if (column < 0 || column >= shape[1]) continue;
                                const auto at = static_cast<std::size_t>(row * shape[1] + column);
                                if (floats) eye.as_mutable<float>()[at] = 1.0F;
                                if (!floats) eye.as_mutable<std::int64_t>()[at] = 1;
                              }
                              node.alias(0, node.plan_constant(eye));
                            }};

}  // namespace concord::gpu
