#include "backends/gpu/lowering.h"

namespace concord::gpu {

const Lowering gpu_reshape{[](const Query&) -> std::optional<std::string> { return std::nullopt; },
                           [](NodeLowering& node) { node.alias(0, node.in(0)); }};

}  // namespace concord::gpu
