#pragma once

#include <memory>

#include "backends/backend.h"

namespace concord::reference {

// The float64 oracle behind the backend interface: an interpreter of the unoptimised graph. Outputs
// and taps are rounded to their declared types, nothing before them is.
std::shared_ptr<Backend> make_backend(const CompileOptions& options);

}  // namespace concord::reference
