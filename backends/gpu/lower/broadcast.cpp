#include "backends/gpu/lower/emit.h"

namespace concord::gpu {

const Lowering gpu_broadcast{why_no_move, [](NodeLowering& node) {
                               const Operand x = node.in(0);
                               if (x.count() == element_count(node.out_shape())) {
                                 return node.alias(0, x);
                               }
                               emit_broadcast(node, x, node.out());
                             }};

}  // namespace concord::gpu
