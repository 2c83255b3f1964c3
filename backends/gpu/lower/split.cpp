#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/part.h"

namespace concord::gpu {

const Lowering gpu_split{why_no_move, [](NodeLowering& node) {
                           const Operand x = node.in(0);
                           const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
                           const Shape strides = contiguous_strides(x.shape);
                           std::int64_t offset = 0;
                           for (std::size_t i = 0; i < node.node().outputs.size(); ++i) {
                             if (!node.has_out(i)) continue;
                             take_part(node, i, x, offset, strides);
                             offset += node.out_shape(i)[axis] * strides[axis];
                           }
                         }};

}  // namespace concord::gpu
