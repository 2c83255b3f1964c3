#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parity/report.h"

// One HTML file that needs nothing else: styles, scripts and data are inside.
namespace concord::parity {

enum class PageScript : std::uint8_t { report, devices };

struct HtmlPage {
  std::string title;
  std::vector<std::string> subtitle;  // lines
  std::string headline;
  bool good = true;                 // of the headline
  std::vector<std::string> notes;   // below the headline
  std::vector<std::string> footer;  // paragraphs
  std::string data;                 // JSON
  PageScript script = PageScript::report;
};

std::string html(const HtmlPage& page);
std::string machine_text(const Machine& machine);  // processor, cores, memory; system

}  // namespace concord::parity
