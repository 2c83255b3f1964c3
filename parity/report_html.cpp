#include "parity/html_page.h"
#include "parity/report.h"

namespace concord::parity {
namespace {

std::string headline(const Report& report) {
  std::size_t comparisons = 0;
  std::size_t bad = 0;
  for (const ModelReport& model : report.models) {
    bad += model.error.empty() ? 0 : 1;
    for (const CaseReport& one : model.cases) {
      for (const ParticipantReport& p : one.participants) {
        ++comparisons;
        bad += p.verdict <= Verdict::branched ? 0 : 1;
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
  HtmlPage page;
  page.title = "Parity report";
  page.subtitle = {"Concord " + report.version + ", " + report.date, machine_text(report.machine)};
  page.headline = headline(report);
  page.good = report.verdict() <= Verdict::branched;
  for (const std::string& skipped : report.skipped) {
    page.notes.push_back("Not compared: " + skipped);
  }
  page.footer = {
      "A verdict rests on a float64 oracle: an output agrees if its rms error is at most four "
      "times the rms of the noise that honest rounding makes in it; a step is within budget if "
      "each element's error is at most six expected spreads of its own rounding and half a unit "
      "of the stored type. Times are of interleaved rounds; a ratio counts only where its 95 % "
      "interval lies beyond what two identical processes show."};
  page.data = to_json_text(report, -1);
  page.script = PageScript::report;
  return html(page);
}

}  // namespace concord::parity
