#pragma once

#include <string>
#include <string_view>

namespace concord::importer {

// A name from a file, fit for a one-line message: 'name', control characters escaped, long ones
// shortened in the middle.
std::string quote(std::string_view name);

// A sentence with words from a file in it, fit for one line: control characters escaped, shortened
// in the middle.
std::string shown(std::string_view sentence);

// "com.microsoft.Attention", "MatMul" for ONNX's own domain.
std::string operator_name(std::string_view domain, std::string_view op);

// "1 node", "3 nodes".
std::string counted(long long count, std::string_view noun);

}  // namespace concord::importer
