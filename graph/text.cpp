#include "graph/text.h"

#include <cstdint>
#include <cstdio>

namespace concord {
namespace {

// Bytes of the well-formed UTF-8 character that `text` starts with, and its code point; 0 if it
// starts with none (overlong forms and surrogates are none).
std::size_t decode(std::string_view text, std::uint32_t& point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    point = first;
    return 1;
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  point = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < kLeast[length] || point > 0x10ffff || surrogate ? 0 : length;
}

bool hides(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) ||  // C0, delete, C1
         (point >= 0x200b && point <= 0x200f) ||             // no width, direction marks
         (point >= 0x2028 && point <= 0x202e) ||             // separators, overrides
         (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t point = 0;
    const std::size_t length = decode(text.substr(at), point);
    const std::string_view bytes = text.substr(at, length == 0 ? 1 : length);
    if (length != 0 && !hides(point)) {
      result += bytes;
    } else {
      for (const char c : bytes) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
        result += escaped;
      }
    }
    at += bytes.size();
  }
  return result;
}

}  // namespace concord
