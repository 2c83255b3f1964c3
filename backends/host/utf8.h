#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace concord::host {

// The character that begins at `at`, which moves behind it; nullopt, and `at` as it was, where the
// bytes are no UTF-8.
std::optional<char32_t> decode_utf8(std::string_view text, std::size_t& at);
void append_utf8(std::string& to, char32_t character);

}  // namespace concord::host
