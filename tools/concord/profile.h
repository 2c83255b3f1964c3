#pragma once

#include <string>
#include <vector>

#include "backends/session.h"

namespace concord::tools {

// The steps of one run in Chrome's trace event format (chrome://tracing, Perfetto): durations are
// measured, starts are laid end to end.
std::string chrome_trace(const Session& session, const std::vector<SessionStep>& steps);

}  // namespace concord::tools
