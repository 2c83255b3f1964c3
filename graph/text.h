#pragma once

#include <string>
#include <string_view>

namespace concord {

// Text from a file, fit for one line on a terminal and for JSON: control characters, the bytes of
// characters that reorder or hide text, and bytes that are no UTF-8 become \xNN. What needs no
// escape is returned as it is.
std::string printable(std::string_view text);

}  // namespace concord
