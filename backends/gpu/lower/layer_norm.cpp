#include "backends/gpu/lower/norm.h"

namespace concord::gpu {

const Lowering gpu_layer_norm{[](const Query& query) {
                                return why_no_norm(query, {"norm_layer_", true});
                              },
                              [](NodeLowering& node) {
                                lower_norm(node, {"norm_layer_", true});
                              }};

}  // namespace concord::gpu
