#include <cmath>
#include <cstdio>

#include "parity/report.h"

namespace concord::parity {
namespace {

std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '`') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

// The output that is furthest from what rounding explains.
const OutputReport* furthest(const ParticipantReport& p) {
  const OutputReport* result = nullptr;
  double most = -1;
  for (const OutputReport& o : p.outputs) {
    const double ratio = o.verdict != Verdict::agrees ? INFINITY
                         : o.expected_rms && *o.expected_rms > 0
                             ? o.metrics.rms_error / *o.expected_rms
                             : 0;
    if (ratio > most) {
      most = ratio;
      result = &o;
    }
  }
  return result;
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = std::string("## Parity: ") +
                     (report.verdict() <= Verdict::branched ? "all agree" : "not all agree") +
                     "\n\n" + "Concord " + report.version + ", " + report.date + ", " +
                     cell(report.machine.processor) + "\n";
  for (const ModelReport& model : report.models) {
    text += "\n### " + cell(model.path) + "\n\n";
    if (!model.error.empty()) {
      text += "Cannot be compared: " + cell(model.error) + "\n";
      continue;
    }
    text +=
        "| case | participant | verdict | worst output | max abs | rms error / expected | "
        "median ms |\n| --- | --- | --- | --- | ---: | ---: | ---: |\n";
    for (const CaseReport& one : model.cases) {
      for (const ParticipantReport& p : one.participants) {
        const OutputReport* o = furthest(p);
        const bool measured = p.performance && p.performance->latency.runs > 0;
        const std::string verdict(to_string(p.verdict));
        text += "| " + cell(one.label) + " | " + cell(p.spec) + " | " +
                (p.verdict == Verdict::agrees ? verdict : "**" + verdict + "**") + " | " +
                (o != nullptr ? cell(o->name) : cell(p.error)) + " | " +
                (o != nullptr ? number(o->metrics.max_abs) : "") + " | " +
                (o != nullptr && o->expected_rms && *o->expected_rms > 0
                     ? number(o->metrics.rms_error / *o->expected_rms)
                     : "") +
                " | " + (measured ? number(p.performance->latency.median) : "") + " |\n";
        if (const StepReport* fault = first_fault(p)) {
          text += "| | | first step | " + cell(fault->name) + " (" + fault->op + ", " +
                  cell(fault->kernel) + ") | | " + number(fault->worst_budget) + " budgets | |\n";
        }
      }
    }
  }
  for (const std::string& skipped : report.skipped)
    text += "\nNot compared: " + cell(skipped) + "\n";
  return text;
}

}  // namespace concord::parity
