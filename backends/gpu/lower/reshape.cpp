#include "backends/gpu/lowering.h"
#include "graph/error.h"

namespace concord::gpu {

const Lowering gpu_reshape{[](const Query&) -> std::optional<std::string> { return std::nullopt; },
                           [](NodeLowering& node) {
                             const Operand x = node.in(0);
                             const Shape to = node.out_shape();
                             if (element_count(to) != x.count()) {
                               throw Error(
                                   ErrorKind::invalid,
                                   "cannot reshape " + to_string(x.shape) + " to " + to_string(to));
                             }
                             node.alias(0, x);
                           }};

}  // namespace concord::gpu
