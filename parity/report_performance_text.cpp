#include <algorithm>

#include "parity/report_sections.h"
#include "parity/text.h"

namespace concord::parity {
namespace {

constexpr std::size_t kMostKernels = 8;
constexpr std::size_t kCasesAcross = 3;  // of the matrix: the page is 100 columns wide

std::string megabytes(double bytes) {
  return format("%.0f", bytes / 1e6);
}

std::string against(const Performance& p) {
  if (!p.against_first) return "1";
  const Interval& r = p.against_first->ratio;
  return ratio(r.median) + " (" + ratio(r.low) + "-" + ratio(r.high) + ")";
}

std::string times(const std::vector<const Performance*>& all, std::size_t indent) {
  Table table({"ms", "median", "p10", "p90", "runs", "transfer", "x first (95 %)", ""}, 1);
  Table start({"ms", "load", "compile", "plan", "first run", "peak MB"}, 1);
  for (const Performance* p : all) {
    table.add({cut(p->spec, 30), milliseconds(p->latency.median), milliseconds(p->latency.p10),
               milliseconds(p->latency.p90), std::to_string(p->latency.runs),
               p->transfer_ms > 0 ? milliseconds(p->transfer_ms) : "-",
               all.size() > 1 ? against(*p) : "-",
               p->against_first ? std::string(to_string(p->against_first->call)) : ""});
    start.add({cut(p->spec, 40), milliseconds(p->load_ms), milliseconds(p->compile_ms),
               milliseconds(p->plan_ms), milliseconds(p->first_run_ms),
               megabytes(static_cast<double>(p->memory.peak_bytes))});
  }
  return table.text(indent) + start.text(indent);
}

std::string noise(const Calibration& c, std::size_t indent) {
  if (!c.twins) return {};
  const std::string text = "noise: a second process of " + c.spec + " took " +
                           ratio(c.twins->median) + " (" + ratio(c.twins->low) + "-" +
                           ratio(c.twins->high) + ") times as long; ratios up to " +
                           ratio(c.floor) + " say nothing";
  return std::string(indent, ' ') + wrap(text, indent + 2) + "\n";
}

std::string bound_share(const Roofline& r, Bound bound) {
  return percent(r.steps_ms > 0 ? r.bound_ms[static_cast<int>(bound)] / r.steps_ms : 0);
}

// "could be 3.1 ms, is 4.0 ms", and where the rest goes.
std::string where_time_goes(const Performance& p, std::size_t indent) {
  if (!p.roofline) return {};
  const Roofline& r = *p.roofline;
  const std::string margin(indent, ' ');
  std::string text =
      p.spec + ": could be " + milliseconds(r.lower_ms) + " ms, is " + milliseconds(r.run_ms) +
      " ms. " + std::to_string(p.steps.size()) + " steps take " + milliseconds(r.steps_ms) +
      " ms (bound by arithmetic " + bound_share(r, Bound::arithmetic) + ", memory " +
      bound_share(r, Bound::memory) + ", overhead " + bound_share(r, Bound::overhead) +
      "), transfers " + milliseconds(r.transfer_ms) + " ms, the rest " +
      milliseconds(r.outside_ms) + " ms; " + with_unit(r.moved_bytes, "B") + " moved";
  if (r.unfused_bytes > 0) text += ", " + with_unit(r.unfused_bytes, "B") + " without fusion";
  std::string result = margin + wrap(text, indent + 2) + "\n";
  Table table({"kernel", "bound by", "steps", "ms", "lost", "of ceiling", "FLOP/s", "B/s"}, 2);
  std::size_t shown = 0;
  for (const KernelTime& k : r.kernels) {
    if (shown++ == kMostKernels) break;
    const double seconds = std::max(k.ms, 1e-9) * 1e-3;
    table.add({cut(k.kernel, 30), std::string(to_string(k.bound)), std::to_string(k.steps),
               milliseconds(k.ms), milliseconds(k.ms - k.lower_ms),
               percent(k.lower_ms / std::max(k.ms, 1e-9)), with_unit(k.flops / seconds, ""),
               with_unit(k.bytes / seconds, "")});
  }
  return result + table.text(indent + 2);
}

std::string matrix_cell(const CaseReport& one, const std::string& spec) {
  const auto p = std::find_if(one.participants.begin(), one.participants.end(),
                              [&](const ParticipantReport& q) { return q.spec == spec; });
  if (p == one.participants.end()) return {};
  if (p->verdict != Verdict::agrees) return std::string(to_string(p->verdict));
  if (p->performance && !p->performance->times.empty()) {
    return milliseconds(p->performance->latency.median);
  }
  return "agrees";
}

}  // namespace

std::string performance_text(const std::vector<Performance>& results,
                             const Calibration& calibration, bool per_step, std::size_t indent) {
  std::vector<const Performance*> measured;
  for (const Performance& p : results) {
    if (!p.times.empty()) measured.push_back(&p);
  }
  if (measured.empty()) return {};
  std::string text = times(measured, indent) + noise(calibration, indent);
  if (!per_step) return text;
  for (const Performance* p : measured) text += where_time_goes(*p, indent);
  return text;
}

std::string performance_text(const CaseReport& one, const TextOptions& options) {
  std::vector<Performance> results;
  for (const ParticipantReport& p : one.participants) {
    if (p.performance) results.push_back(*p.performance);
  }
  std::string text;
  if (!one.measuring_error.empty()) {
    text = "    " + wrap("not measured: " + one.measuring_error, 6) + "\n";
  }
  return text +
         performance_text(results, one.calibration.value_or(Calibration()), options.per_step, 4);
}

std::string agreement_text(const CaseReport& one) {
  if (!one.agreement) return {};
  const Agreement& a = *one.agreement;
  const int classes = 1 + *std::max_element(a.classes.begin(), a.classes.end());
  std::string same;
  for (int c = 0; c < classes; ++c) {
    std::string members;
    int count = 0;
    for (std::size_t i = 0; i < a.classes.size(); ++i) {
      if (a.classes[i] != c) continue;
      members += (count++ > 0 ? " = " : "") + a.participants[i];
    }
    if (count > 1) same += (same.empty() ? "" : "; ") + members;
  }
  std::string apart;
  for (const AgreementPair& pair : a.pairs) {
    if (pair.within()) continue;
    apart += (apart.empty() ? "" : "; ") + a.participants[static_cast<std::size_t>(pair.a)] +
             " and " + a.participants[static_cast<std::size_t>(pair.b)] +
             (pair.ratio ? " (" + number(*pair.ratio) + " budgets)" : " (not judged)");
  }
  const std::string text =
      "the same bits: " + (same.empty() ? "none" : same) +
      "; from each other, beyond what rounding explains: " + (apart.empty() ? "none" : apart);
  return "    " + wrap(text, 6) + "\n";
}

std::string matrix_text(const ModelReport& model) {
  std::vector<std::string> specs;
  for (const CaseReport& one : model.cases) {
    for (const ParticipantReport& p : one.participants) {
      if (std::find(specs.begin(), specs.end(), p.spec) == specs.end()) specs.push_back(p.spec);
    }
  }
  std::string text = "  all cases: median ms, or the verdict where it is not 'agrees'\n";
  for (std::size_t first = 0; first < model.cases.size(); first += kCasesAcross) {
    const std::size_t last = std::min(first + kCasesAcross, model.cases.size());
    std::vector<std::string> heads = {""};
    for (std::size_t i = first; i < last; ++i) heads.push_back(cut(model.cases[i].label, 18));
    Table table(heads, 1);
    for (const std::string& spec : specs) {
      std::vector<std::string> row = {cut(spec, 34)};
      for (std::size_t i = first; i < last; ++i) row.push_back(matrix_cell(model.cases[i], spec));
      table.add(std::move(row));
    }
    text += table.text(4);
  }
  return text;
}

std::string baseline_text(const BaselineReport& baseline) {
  std::string text = "\nagainst " + cut(baseline.path, 60) + " of " + baseline.date + "\n";
  std::size_t comparable = 0;
  for (const BaselineFinding& f : baseline.findings) {
    comparable += f.change != Change::not_comparable ? 1 : 0;
    text += "  " +
            wrap(f.spec + ", " + f.label + ": " + std::string(to_string(f.subject)) + " " +
                     std::string(to_string(f.change)) + ": " + f.text,
                 4) +
            "\n";
  }
  if (comparable == 0) text += "  nothing could be compared: make a new baseline\n";
  return text;
}

}  // namespace concord::parity
