#include <algorithm>

#include "parity/report.h"
#include "parity/report_sections.h"
#include "parity/text.h"

namespace concord::parity {
namespace {

class Writer {
 public:
  Writer(const Report& report, const TextOptions& options) : report_(report), options_(options) {}

  std::string write() {
    for (const std::string& line : report_.skipped) out_ += wrap("skipped " + line, 2) + "\n";
    for (const ModelReport& model : report_.models) write_model(model);
    if (report_.baseline) out_ += baseline_text(*report_.baseline);
    out_ += headline();
    return std::move(out_);
  }

 private:
  std::string paint(const std::string& text, Verdict verdict) const {
    if (!options_.colour) return text;
    return (verdict == Verdict::agrees ? "\033[32m" : "\033[31m") + text + "\033[0m";
  }

  void write_model(const ModelReport& model) {
    out_ += "\n" + model.path + "\n";
    if (!model.error.empty()) {
      out_ += "  " + wrap("cannot be compared: " + model.error, 4) + "\n";
      return;  // the hint may be a table: it goes with the error
    }
    for (const CaseReport& one : model.cases) write_case(one);
    if (model.cases.size() > 1) out_ += matrix_text(model);
  }

  void write_case(const CaseReport& one) {
    out_ += "  " +
            wrap(one.label + (one.data.empty() ? "" : " (" + one.data + ")") + ", against the " +
                     one.reference,
                 4) +
            "\n";
    for (const ParticipantReport& p : one.participants) write_participant(p);
    write_outputs(one);
    for (const ParticipantReport& p : one.participants) {
      write_toggles(p);
      write_minimal(p);
    }
    write_decode(one);
    out_ += performance_text(one, options_);
    out_ += agreement_text(one);
    for (const ParticipantReport& p : one.participants) {
      if (options_.per_step || p.verdict > Verdict::branched) write_steps(p);
    }
  }

  void write_participant(const ParticipantReport& p) {
    std::string line = p.spec + ": " + std::string(to_string(p.verdict));
    if (!p.device.name.empty()) line += " (" + p.device.name + ")";
    out_ += "    " + paint(wrap(line, 6), p.verdict) + "\n";
    if (!p.error.empty()) out_ += "      " + wrap(p.error, 8) + "\n";
    if (!p.hint.empty()) out_ += "      " + wrap("hint: " + p.hint, 8) + "\n";
    for (const OutputReport& o : p.outputs) {
      if (o.verdict == Verdict::agrees) continue;
      out_ +=
          "      " +
          wrap("output '" + o.name + "': " + std::string(to_string(o.verdict)) + ", " + o.note, 8) +
          "\n";
    }
    std::size_t fell = 0;
    for (const WorkerFallback& f : p.fallbacks) fell += f.by_nature ? 0 : 1;
    if (fell > 0) {
      out_ += "      " + std::to_string(fell) + " node(s) ran on the CPU instead:\n";
      std::size_t shown = 0;
      for (const WorkerFallback& f : p.fallbacks) {
        if (f.by_nature || (!options_.verbose && shown++ >= 3)) continue;
        out_ += "        " + wrap(f.name + " (" + f.op + "): " + f.reason, 10) + "\n";
      }
    }
    write_determinism(p);
    if (p.taps_changed_outputs.value_or(false)) {
      out_ += "      watching its steps changed its outputs: they are not those of production\n";
    }
  }

  void write_determinism(const ParticipantReport& p) {
    for (const DeterminismCheck& check : p.determinism) {
      std::string text = check.name + ": ";
      if (check.runs == 0) {
        text += "not tried, " + check.note;
      } else if (check.same) {
        text += "the same bits";
      } else {
        text += "other bits";
        if (check.runs > 1) text += " in " + std::to_string(check.differ) + " of them";
        if (!check.first_step.empty()) text += ", first in " + check.first_step;
      }
      if (check.runs > 0 && !check.note.empty()) text += " (" + check.note + ")";
      out_ += "      " + wrap(text, 8) + "\n";
    }
  }

  void write_decode(const CaseReport& one) {
    Table table({"decoding, by", "drift: first", "last", "other tokens", "first other token"}, 1);
    bool any = false;
    for (const ParticipantReport& p : one.participants) {
      if (!p.decode || p.decode->drift.empty()) continue;
      any = true;
      const DecodeReport& d = *p.decode;
      std::string first = "none";
      if (d.first_difference) {
        first = "step " + std::to_string(*d.first_difference) + ": " + std::to_string(d.token) +
                " for " + std::to_string(d.reference_token) + ", margin " + number(d.margin);
      }
      table.add({cut(p.spec, 24), number(d.drift.front()), number(d.drift.back()),
                 std::to_string(d.other_tokens) + " of " + std::to_string(d.drift.size()), first});
    }
    if (any) out_ += table.text(4);
    for (const ParticipantReport& p : one.participants) {
      if (!p.decode || p.decode->error.empty()) continue;
      out_ += "    " + wrap(p.spec + " did not decode: " + p.decode->error, 6) + "\n";
    }
  }

  // What each toggle does to the error.
  void write_toggles(const ParticipantReport& p) {
    if (p.toggles.empty()) return;
    Table table({"switched", "verdict", "error removed", "worst step / budget", ""}, 2);
    for (const ToggleReport& toggle : p.toggles) {
      const bool ran = toggle.verdict != Verdict::failed && toggle.verdict != Verdict::unsupported;
      table.add({toggle.name, std::string(to_string(toggle.verdict)),
                 ran ? format("%.1f %%", 100 * toggle.removed) : "-",
                 ran ? number(toggle.worst_budget) : "-",
                 toggle.cures ? "cures it" : cut(toggle.error, 40)});
    }
    out_ += "      " + p.spec + ", one thing switched at a time:\n" + table.text(6);
  }

  void write_minimal(const ParticipantReport& p) {
    if (!p.minimal) return;
    const MinimalReport& m = *p.minimal;
    if (!m.error.empty()) {
      out_ += "      " + wrap("not minimised (" + m.signature + "): " + m.error, 8) + "\n";
      return;
    }
    out_ +=
        "      " +
        wrap("smallest part that fails alike (" + m.signature + "): " + std::to_string(m.nodes) +
                 " node(s), " + std::to_string(m.steps) + " step(s)" +
                 (m.keeps_cures ? "" : ", which other toggles cure than the model") + ", in " +
                 m.folder,
             8) +
        "\n";
    out_ += "        " + m.command + "\n";
  }

  void write_outputs(const CaseReport& one) {
    Table table({"output", "by", "max abs", "max ulp", "SNR dB", "rms error", "expected"}, 2);
    bool any = false;
    for (const ParticipantReport& p : one.participants) {
      for (const OutputReport& o : p.outputs) {
        if (o.verdict == Verdict::shape || o.verdict == Verdict::type) continue;
        any = true;
        table.add({cut(o.name, 28), cut(p.spec, 24), number(o.metrics.max_abs),
                   is_float(o.dtype) ? number(o.metrics.max_ulp) : "-",
                   is_float(o.dtype) ? number(o.metrics.snr_db) : "-",
                   is_float(o.dtype) ? number(o.metrics.rms_error) : "-",
                   o.expected_rms ? number(*o.expected_rms) : "-"});
      }
    }
    if (any) out_ += table.text(4);
  }

  void write_steps(const ParticipantReport& p) {
    if (p.steps.empty()) return;
    std::size_t judged = 0;
    std::size_t over = 0;
    std::size_t branched = 0;
    for (const StepReport& step : p.steps) {
      judged += step.judged ? 1 : 0;
      over += step.judged && step.verdict > StepVerdict::branched ? 1 : 0;
      branched += step.verdict == StepVerdict::branched ? 1 : 0;
    }
    out_ +=
        "    " + p.spec + ": " + std::to_string(p.steps.size()) + " steps, " +
        std::to_string(judged) + " judged, " + std::to_string(over) + " over budget" +
        (branched > 0 ? ", " + std::to_string(branched) + " behind a choice that branched" : "") +
        "\n";
    std::size_t exact = 0;
    std::size_t mistrusted = 0;
    for (const StepReport& step : p.steps) {
      exact += step.exact ? 1 : 0;
      mistrusted += step.mistrusted ? 1 : 0;
    }
    if (exact > 0) {
      out_ +=
          "      " + std::to_string(exact) + " of them exact" +
          (mistrusted > 0 ? ", " + std::to_string(mistrusted) + " mistrusted: mostly zeros" : "") +
          "\n";
    }
    if (const StepReport* fault = first_fault(p)) write_fault(*fault);
    if (const StepReport* origin = first_non_finite(p.steps)) write_non_finite(*origin);
    write_headroom(p);
    if (!options_.verbose) return;
    Table table({"step", "kernel", "verdict", "error / budget", "ms"}, 3);
    for (const StepReport& step : p.steps) {
      table.add({cut(step.name.empty() ? step.op : step.name, 40), cut(step.kernel, 24),
                 step.judged ? std::string(to_string(step.verdict)) : "-",
                 step.judged ? number(step.worst_budget) : "-", milliseconds(step.ms)});
    }
    out_ += table.text(6);
  }

  void write_fault(const StepReport& step) {
    std::string text = "first step over budget: " + step.op + " '" + step.name + "', kernel " +
                       step.kernel + ", in " + std::string(to_string(step.precision.operand)) +
                       (step.precision.tf32 ? " (TF32)" : "") + " with sums in " +
                       std::string(to_string(step.precision.accumulate)) + ": " +
                       std::string(to_string(step.verdict));
    if (step.over > 0) {
      text += ", error " + number(step.worst_budget) + " budgets at element " + step.worst_index +
              " (" + format("%.9g", step.worst.value) + " for " +
              format("%.9g", step.worst.reference) + "), " + std::to_string(step.over) +
              " elements over";
    }
    out_ += "      " + wrap(text, 8) + "\n";
    std::string shapes;
    for (const std::string& input : step.inputs) shapes += (shapes.empty() ? "" : ", ") + input;
    shapes += " ->";
    for (const std::string& output : step.outputs) shapes += " " + output;
    out_ += "        " + wrap("from " + shapes, 10) + "\n";
    if (!step.around.empty()) {
      out_ +=
          "        " +
          wrap("about it: " + numbers(step.around) + " for " + numbers(step.around_reference), 10) +
          "\n";
    }
    if (step.members.size() > 1) {
      std::string members = "it stands for";
      for (const std::string& member : step.members) members += " " + member;
      out_ += "        " + wrap(members, 10) + "\n";
    }
  }

  void write_non_finite(const StepReport& step) {
    std::string text = "first NaN or infinity: " + step.op + " '" + step.name +
                       "': " + step.origin->element + ", " + number(step.origin->oracle) +
                       " in float64, made of";
    for (const std::string& operand : step.origin->operands) text += " " + operand + ";";
    text.pop_back();
    out_ += "      " + wrap(text, 8) + "\n";
  }

  // The float16 tensor that comes nearest to overflowing.
  void write_headroom(const ParticipantReport& p) {
    const StepReport* tightest = nullptr;
    for (const StepReport& step : p.steps) {
      if (!step.headroom) continue;
      if (tightest == nullptr || *step.headroom < *tightest->headroom) tightest = &step;
    }
    if (tightest == nullptr) return;
    out_ += "      " +
            wrap("least head-room in float16: " + number(*tightest->headroom) + " times, " +
                     tightest->op + " '" + tightest->name + "' writes up to " +
                     number(*tightest->largest),
                 8) +
            "\n";
  }

  static std::string numbers(const std::vector<double>& values) {
    std::string text;
    for (const double v : values) text += (text.empty() ? "" : " ") + number(v);
    return "[" + text + "]";
  }

  std::string headline() const {
    std::size_t cases = 0;
    std::size_t participants = 0;
    std::size_t bad = 0;
    for (const ModelReport& model : report_.models) {
      bad += model.error.empty() ? 0 : 1;
      for (const CaseReport& one : model.cases) {
        ++cases;
        for (const ParticipantReport& p : one.participants) {
          ++participants;
          bad += p.verdict <= Verdict::branched ? 0 : 1;
        }
      }
    }
    const std::string scope = std::to_string(report_.models.size()) + " model(s), " +
                              std::to_string(cases) + " case(s), " + std::to_string(participants) +
                              " comparison(s)";
    const std::string text = bad == 0 ? "All agree: " + scope + ".\n"
                                      : std::to_string(bad) + " do not agree: " + scope + ".\n";
    return "\n" + paint(text, bad == 0 ? Verdict::agrees : Verdict::diverged);
  }

  const Report& report_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  return Writer(report, options).write();
}

}  // namespace concord::parity
