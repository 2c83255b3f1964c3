#pragma once

#include <string>

namespace concord::gpu {

// Ends the call because a device or its driver failed. `text`: what failed, with the driver's own
// words; `hint`: what to do.
[[noreturn]] void fail_device(const std::string& text, const std::string& hint);

}  // namespace concord::gpu
