#include <cmath>

#include "parity/markup.h"
#include "parity/report.h"
#include "parity/text.h"

namespace concord::parity {
namespace {

constexpr auto cell = escape_table_cell;

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

constexpr const char* kHead =
    "| case | participant | verdict | worst output | max abs | rms error / expected | median ms | "
    "p90 | × first (95 %) | peak MB |\n"
    "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: |\n";

std::string against(const Performance& p) {
  if (!p.against_first) return "1";
  const Interval& r = p.against_first->ratio;
  return ratio(r.median) + " (" + ratio(r.low) + "–" + ratio(r.high) + ") " +
         std::string(to_string(p.against_first->call));
}

std::string rows(const CaseReport& one, const ParticipantReport& p) {
  const OutputReport* o = furthest(p);
  const std::string verdict(to_string(p.verdict));
  std::string text = "| " + cell(one.label) + " | " + cell(p.spec) + " | " +
                     (p.verdict == Verdict::agrees ? verdict : "**" + verdict + "**") + " | " +
                     (o != nullptr ? cell(o->name) : cell(p.error)) + " | " +
                     (o != nullptr ? number(o->metrics.max_abs) : "") + " | ";
  if (o != nullptr && o->expected_rms && *o->expected_rms > 0) {
    text += number(o->metrics.rms_error / *o->expected_rms);
  }
  if (p.performance && p.performance->latency.runs > 0) {
    const Performance& f = *p.performance;
    text += " | " + milliseconds(f.latency.median) + " | " + milliseconds(f.latency.p90) + " | " +
            against(f) + " | " + format("%.0f", static_cast<double>(f.memory.peak_bytes) / 1e6) +
            " |\n";
  } else {
    text += " | | | | |\n";
  }
  if (const StepReport* fault = first_fault(p)) {
    text += "| | | first step | " + cell(fault->name) + " (" + fault->op + ", " +
            cell(fault->kernel) + ") | | " + number(fault->worst_budget) + " budgets | | | | |\n";
  }
  return text;
}

// What a table has no place for.
std::string notes_of(const CaseReport& one) {
  std::string text;
  if (one.calibration && one.calibration->twins) {
    text += "- " + cell(one.label) + ": ratios up to " + ratio(one.calibration->floor) +
            " are noise (a second process of " + cell(one.calibration->spec) + ").\n";
  }
  if (!one.measuring_error.empty()) {
    text += "- " + cell(one.label) + ": not measured: " + cell(one.measuring_error) + "\n";
  }
  for (const ParticipantReport& p : one.participants) {
    if (!p.performance || !p.performance->roofline) continue;
    const Roofline& r = *p.performance->roofline;
    text += "- " + cell(one.label) + ", " + cell(p.spec) + ": could be " +
            milliseconds(r.lower_ms) + " ms, is " + milliseconds(r.run_ms) + " ms; bound by " +
            std::string(to_string(r.bound)) + ".\n";
  }
  return text;
}

std::string baseline(const BaselineReport& b) {
  std::string text = "\n### Against " + cell(b.path) + " of " + b.date +
                     "\n\n| case | participant | | | found |\n| --- | --- | --- | --- | --- |\n";
  for (const BaselineFinding& f : b.findings) {
    const std::string change(to_string(f.change));
    text += "| " + cell(f.label) + " | " + cell(f.spec) + " | " +
            std::string(to_string(f.subject)) + " | " +
            (f.change == Change::worse ? "**" + change + "**" : change) + " | " + cell(f.text) +
            " |\n";
  }
  return text;
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
    text += kHead;
    std::string notes;
    for (const CaseReport& one : model.cases) {
      for (const ParticipantReport& p : one.participants) text += rows(one, p);
      notes += notes_of(one);
    }
    if (!notes.empty()) text += "\n" + notes;
  }
  if (report.baseline) text += baseline(*report.baseline);
  for (const std::string& skipped : report.skipped) {
    text += "\nNot compared: " + cell(skipped) + "\n";
  }
  return text;
}

}  // namespace concord::parity
