#pragma once

#include <string_view>

// The files of HTML pages, embedded at build time (parity/html.cmake).
namespace concord::parity {

std::string_view report_css();
std::string_view page_js();     // what pages share: tables, charts, light and dark
std::string_view report_js();   // the parity report
std::string_view devices_js();  // ceilings of devices
std::string_view chart_js();    // Chart.js (MIT licence), minified

}  // namespace concord::parity
