#include "backends/gpu/lower/cumulative.h"

namespace concord::gpu {

const Lowering gpu_cum_sum{
    [](const Query& query) { return why_no_cumulative(query, "scan_sum"); },
    [](NodeLowering& node) { lower_cumulative(node, "scan_sum"); },
};

}  // namespace concord::gpu
