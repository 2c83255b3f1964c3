#include "backends/build_id.h"

// What `strings libconcord.so` and a debugger can be asked for.
extern "C" __attribute__((visibility("default"))) const char* concord_version() {
  return CONCORD_VERSION " (build " CONCORD_BUILD_ID ")";
}
