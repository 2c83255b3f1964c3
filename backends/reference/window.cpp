#include "backends/reference/window.h"

#include "graph/error.h"

namespace concord::reference {

Window3::Window3(const graph::Window& window) {
  const std::size_t rank = window.kernel.size();
  if (rank > 3) {
    throw Error(ErrorKind::unsupported,
                "a window along " + std::to_string(rank) + " axes; three are the most");
  }
  for (std::size_t d = 0; d < rank; ++d) {
    axes[3 - rank + d] = {window.input[d],     window.kernel[d],     window.strides[d],
                          window.dilations[d], window.pads_begin[d], window.pads_end[d],
                          window.output[d]};
  }
}

}  // namespace concord::reference
