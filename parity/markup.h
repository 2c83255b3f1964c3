#pragma once

#include <string>

namespace concord::parity {

// Text as it may stand in HTML and XML, in attributes too.
std::string escape_markup(const std::string& text);
// Text as it may stand in a cell of a Markdown table.
std::string escape_table_cell(const std::string& text);

}  // namespace concord::parity
