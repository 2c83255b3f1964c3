#include "parity/html_assets.h"
#include "parity/markup.h"
#include "parity/report.h"

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

std::string machine_text(const Machine& machine) {
  std::string text = machine.processor.empty() ? machine.system : machine.processor;
  text += ", " + std::to_string(machine.cores) + " cores, " +
          std::to_string((machine.memory_bytes + (1 << 29)) >> 30) + " GiB";
  return text + "; " + machine.system;
}

std::string headline(const Report& report) {
  std::size_t comparisons = 0;
  std::size_t bad = 0;
  for (const ModelReport& model : report.models) {
    bad += model.error.empty() ? 0 : 1;
    for (const CaseReport& one : model.cases) {
      for (const ParticipantReport& p : one.participants) {
        ++comparisons;
        bad += p.verdict == Verdict::agrees ? 0 : 1;
      }
    }
  }
  if (bad == 0) {
    return "All " + std::to_string(comparisons) +
           " comparisons agree: every difference is what rounding explains.";
  }
  return std::to_string(bad) + " of " + std::to_string(comparisons) + " comparisons do not agree.";
}

}  // namespace

std::string to_html(const Report& report) {
  const bool good = report.verdict() <= Verdict::branched;
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Concord parity report</title>\n<style>\n";
  html += report_css();
  html +=
      "</style>\n</head>\n<body>\n<main>\n<div class=\"top\">\n<div>\n<h1>Parity report</h1>\n"
      "<p class=\"soft\">Concord " +
      escape_markup(report.version) + ", " + escape_markup(report.date) + "<br>" +
      escape_markup(machine_text(report.machine)) +
      "</p>\n</div>\n<button id=\"theme\">Light / dark</button>\n</div>\n";
  html += std::string("<div class=\"card headline") + (good ? "" : " bad") + "\"><strong>" +
          escape_markup(headline(report)) + "</strong>";
  for (const std::string& skipped : report.skipped) {
    html += "<p class=\"soft small\">Not compared: " + escape_markup(skipped) + "</p>";
  }
  html +=
      "</div>\n<div id=\"models\"></div>\n<noscript><p>The tables and charts need scripts to be "
      "allowed; nothing is loaded from the network.</p></noscript>\n"
      "<p class=\"soft small\">A verdict rests on a float64 oracle: an output agrees if its rms "
      "error is at most four times the rms of the noise that honest rounding makes in it; a "
      "step is within budget if each element's error is at most six expected spreads of its "
      "own rounding and half a unit of the stored type.</p>\n</main>\n"
      "<script type=\"application/json\" id=\"report\">\n";
  html += escape_script(to_json_text(report));
  html += "</script>\n<script>\n";
  html += chart_js();
  html += "\n</script>\n<script>\n";
  html += report_js();
  html += "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace concord::parity
