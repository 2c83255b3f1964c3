#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace concord::tests {

// What a real browser makes of a page.
struct Rendered {
  std::string dom;      // as text, after scripts have run
  std::string console;  // errors that scripts raised
  // An attribute of the root element; empty if there is none.
  std::string attribute(const std::string& name) const;
};

// Opens a file in headless Chromium; nullopt where no Chromium is installed.
std::optional<Rendered> render(const std::filesystem::path& page, bool dark);

}  // namespace concord::tests
