#include "backends/gpu/lower/norm.h"

namespace concord::gpu {

const Lowering gpu_rms_norm{[](const Query& query) {
                              return why_no_norm(query, {"norm_rms_", false});
                            },
                            [](NodeLowering& node) {
                              lower_norm(node, {"norm_rms_", false});
                            }};

}  // namespace concord::gpu
