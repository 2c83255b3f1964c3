#pragma once

#include <string_view>

// The HTML report's files, embedded at build time (parity/html.cmake).
namespace concord::parity {

std::string_view report_css();
std::string_view report_js();
std::string_view chart_js();  // Chart.js (MIT licence), minified

}  // namespace concord::parity
