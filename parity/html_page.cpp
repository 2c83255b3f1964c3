#include "parity/html_page.h"

#include "parity/html_assets.h"
#include "parity/markup.h"

namespace concord::parity {
namespace {

// JSON inside a script element: nothing in it may look like the element's end.
std::string escape_script(std::string text) {
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3)) {
    text.insert(at + 1, "\\");
  }
  for (std::size_t at = text.find("<!--"); at != std::string::npos; at = text.find("<!--", at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string paragraphs(const std::vector<std::string>& lines, const char* kind) {
  std::string text;
  for (const std::string& line : lines) {
    text += std::string("<p class=\"") + kind + "\">" + escape_markup(line) + "</p>\n";
  }
  return text;
}

}  // namespace

std::string machine_text(const Machine& machine) {
  std::string text = machine.processor.empty() ? machine.system : machine.processor;
  text += ", " + std::to_string(machine.cores) + " cores, " +
          std::to_string((machine.memory_bytes + (1 << 29)) >> 30) + " GiB";
  return text + "; " + machine.system;
}

std::string html(const HtmlPage& page) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Concord: " +
      escape_markup(page.title) + "</title>\n<style>\n";
  text += report_css();
  text += "</style>\n</head>\n<body>\n<main>\n<div class=\"top\">\n<div>\n<h1>" +
          escape_markup(page.title) + "</h1>\n" + paragraphs(page.subtitle, "soft small") +
          "</div>\n<button id=\"theme\" type=\"button\">Light / dark</button>\n</div>\n";
  text += std::string("<div class=\"card headline") + (page.good ? "" : " bad") + "\"><strong>" +
          escape_markup(page.headline) + "</strong>\n" + paragraphs(page.notes, "soft small") +
          "</div>\n<div id=\"content\"></div>\n<noscript><p>The tables and charts need scripts to "
          "be allowed; nothing is loaded from the network.</p></noscript>\n" +
          paragraphs(page.footer, "soft small") +
          "</main>\n<script type=\"application/json\" id=\"data\">\n" + escape_script(page.data) +
          "</script>\n";
  for (const std::string_view script :
       {chart_js(), page_js(), page.script == PageScript::report ? report_js() : devices_js()}) {
    text += "<script>\n";
    text += script;
    text += "\n</script>\n";
  }
  return text + "</body>\n</html>\n";
}

}  // namespace concord::parity
