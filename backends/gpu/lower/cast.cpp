#include "backends/gpu/lower/emit.h"

namespace concord::gpu {

const Lowering gpu_cast{[](const Query&) -> std::optional<std::string> { return std::nullopt; },
                        [](NodeLowering& node) {
                          const Operand x = node.in(0);
                          const bool to_bool = node.out_dtype() == DataType::boolean &&
                                               node.in_dtype(0) != DataType::boolean;
                          if (x.dtype == node.out_type() && !to_bool) return node.alias(0, x);
                          emit_cast(node, x, node.out(), to_bool);
                        }};

}  // namespace concord::gpu
