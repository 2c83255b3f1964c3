#include <cstdio>

#include "parity/markup.h"
#include "parity/report.h"

namespace concord::parity {
namespace {

// XML 1.0 has no control characters but newline and tab.
std::string escape(std::string text) {
  std::erase_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; });
  return escape_markup(text);
}

struct Suite {
  std::string cases;
  int tests = 0;
  int failures = 0;
  int errors = 0;
};

void add(Suite& suite, const std::string& group, const std::string& name, double seconds,
         const char* kind, const std::string& message) {
  char time[32];
  std::snprintf(time, sizeof time, "%.6f", seconds);
  suite.cases += "    <testcase classname=\"" + escape(group) + "\" name=\"" + escape(name) +
                 "\" time=\"" + time + "\"";
  ++suite.tests;
  if (kind == nullptr) {
    suite.cases += "/>\n";
    return;
  }
  (std::string_view(kind) == "failure" ? suite.failures : suite.errors) += 1;
  suite.cases += std::string("><") + kind + " message=\"" + escape(message) + "\"/></testcase>\n";
}

void add(Suite& suite, const CaseReport& one, const ParticipantReport& p) {
  const std::string group = p.spec + " " + one.label;
  const double seconds = p.performance ? p.performance->latency.median / 1e3 : 0;
  if (p.outputs.empty()) {
    add(suite, group, "(all outputs)", seconds, p.error.empty() ? nullptr : "error", p.error);
    return;
  }
  for (const OutputReport& o : p.outputs) {
    const bool good = o.verdict <= Verdict::branched;
    add(suite, group, o.name, seconds, good ? nullptr : "failure",
        std::string(to_string(o.verdict)) + (o.note.empty() ? "" : ": " + o.note));
  }
}

}  // namespace

std::string to_junit(const Report& report) {
  std::string suites;
  int tests = 0;
  int failures = 0;
  int errors = 0;
  for (const ModelReport& model : report.models) {
    Suite suite;
    if (!model.error.empty()) add(suite, "model", "import", 0, "error", model.error);
    for (const CaseReport& one : model.cases) {
      for (const ParticipantReport& p : one.participants) add(suite, one, p);
    }
    suites += "  <testsuite name=\"" + escape(model.path) + "\" tests=\"" +
              std::to_string(suite.tests) + "\" failures=\"" + std::to_string(suite.failures) +
              "\" errors=\"" + std::to_string(suite.errors) + "\" timestamp=\"" +
              escape(report.date) + "\">\n" + suite.cases + "  </testsuite>\n";
    tests += suite.tests;
    failures += suite.failures;
    errors += suite.errors;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"concord parity\" "
         "tests=\"" +
         std::to_string(tests) + "\" failures=\"" + std::to_string(failures) + "\" errors=\"" +
         std::to_string(errors) + "\">\n" + suites + "</testsuites>\n";
}

}  // namespace concord::parity
