#include "backends/gpu/lower/indices.h"

#include "graph/error.h"

namespace concord::gpu {

void require_elements(const Operand& data) {
  if (data.count() > 0) return;
  throw Error(ErrorKind::invalid,
              "indices into data of shape " + to_string(data.shape) + ", which has no elements",
              "check the sizes of the inputs");
}

}  // namespace concord::gpu
