#include "backends/gpu/device_error.h"

#include "graph/error.h"

namespace concord::gpu {

void fail_device(const std::string& text, const std::string& hint) {
  throw Error(ErrorKind::failed, text, hint);
}

}  // namespace concord::gpu
