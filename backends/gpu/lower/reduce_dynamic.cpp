#include "backends/gpu/lower/reduce.h"
#include "graph/error.h"

namespace concord::gpu {

// Planned when the axes are there, and a `reduce` then.
const Lowering gpu_reduce_dynamic{
    [](const Query& query) {
      return why_no_reduce(query, query.node.attrs.text("fn"), query.in(0));
    },
    [](NodeLowering&) { throw Error(ErrorKind::failed, "axes that are not known when planned"); }};

}  // namespace concord::gpu
