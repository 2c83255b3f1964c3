#include <cmath>
#include <map>

#include "tests/faults/campaign.h"

namespace concord::faults {
namespace {

std::string number(double v) {
  if (std::isinf(v)) return "∞";
  char text[32];
  std::snprintf(text, sizeof text, v != 0 && (v < 0.01 || v >= 1e4) ? "%.1e" : "%.3g", v);
  return text;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "–";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string of(std::int64_t part, std::int64_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole) + " (" + percent(part, whole) + ")";
}

struct Tally {
  std::int64_t drawn = 0, counted = 0, detected = 0, located = 0, minimised = 0, kept = 0,
               small = 0;
  double least = INFINITY;

  void add(const Draw& draw) {
    ++drawn;
    if (!draw.counts) return;
    ++counted;
    detected += draw.detected ? 1 : 0;
    located += draw.located ? 1 : 0;
    least = std::min(least, draw.budgets);
    if (!draw.minimised) return;
    ++minimised;
    kept += draw.keeps_cause ? 1 : 0;
    small += draw.keeps_cause && draw.minimal_steps <= 3 ? 1 : 0;
  }
};

// What the whole campaign comes to.
struct Totals {
  std::map<std::string, Tally> kinds;
  Tally all;
  Tally controls;
  std::int64_t false_controls = 0;
  std::int64_t steps = 0, alarms = 0, runs = 0, outputs = 0, output_alarms = 0;

  explicit Totals(const CampaignResult& result) {
    for (const Draw& draw : result.draws) {
      if (kind_of(draw.fault).is_control) {
        controls.add(draw);
        false_controls += draw.detected ? 1 : 0;
        continue;
      }
      kinds[draw.fault.kind].add(draw);
      all.add(draw);
    }
    for (const Honest& honest : result.honest) {
      steps += honest.steps;
      alarms += honest.alarms;
      runs += honest.runs;
      outputs += honest.outputs;
      output_alarms += honest.output_alarms;
    }
  }
};

}  // namespace

bool is_good(const CampaignResult& result) {
  const Totals t(result);
  return 100 * t.all.detected >= 99 * t.all.counted && 100 * t.all.located >= 95 * t.all.counted &&
         t.false_controls == 0 && 1000 * t.alarms <= t.steps &&
         1000 * t.output_alarms <= t.outputs && t.all.kept == t.all.minimised &&
         10 * t.all.small >= 9 * t.all.minimised;
}

std::string campaign_text(const CampaignOptions& options, const CampaignResult& result) {
  const Totals totals(result);
  const Tally& all = totals.all;
  std::string text =
      "# Faults put in on purpose\n\n"
      "What the parity report is worth is what it finds. A test backend (`tests/faults/`) runs a "
      "model on the CPU backend but one step with a fault; the report must find that there is one "
      "and name the step. Places are drawn at random, all draws of a model before any of its "
      "faulty "
      "runs. A fault counts when it moves its step's float64 result by more than ten budgets "
      "somewhere: what is smaller is rounding, or nothing. Draws that do not count are listed "
      "below "
      "with the ratio. Kinds of which none was drawn fit no step of these models that writes a "
      "value "
      "with a name of the model's own.\n\nThis page is written by\n\n"
      "    build/release/tests/faults/concord";
  for (const auto& model : options.models) text += " models/" + model.filename().string();
  text += " \\\n      --seed " + std::to_string(options.seed) + " --places " +
          std::to_string(options.places) + " --repeat " + std::to_string(options.repeat) +
          " --honest " + std::to_string(options.honest) + (options.minimise ? " --minimise" : "") +
          " --output docs/fault_campaign.md\n\n";
  text += "| | | wanted |\n| --- | --- | --- |\n";
  text += "| detected | " + of(all.detected, all.counted) + " | ≥ 99 % |\n";
  text += "| located at the very step | " + of(all.located, all.counted) + " | ≥ 95 % |\n";
  text += "| one ulp in one element, reported | " +
          of(totals.false_controls, totals.controls.drawn) + " | none |\n";
  text += "| steps over budget without a fault, " + std::to_string(totals.runs) + " runs | " +
          of(totals.alarms, totals.steps) + " | ≤ 0.1 % |\n";
  text += "| outputs diverged without a fault | " + of(totals.output_alarms, totals.outputs) +
          " | ≤ 0.1 % |\n";
  if (all.minimised > 0) {
    text += "| minimised model keeps the cause | " + of(all.kept, all.minimised) + " | all |\n";
    text +=
        "| minimised model has at most 3 steps | " + of(all.small, all.minimised) + " | ≥ 90 % |\n";
    text +=
        "\nEvery fault that was located is minimised, races apart: a part shows one in one run of "
        "ten.\n";
  }
  text +=
      "\n| fault | what | drawn | counted | detected | located | smallest, in budgets |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const FaultKind& kind : all_kinds()) {
    if (kind.is_control) continue;
    const auto found = totals.kinds.find(kind.name);
    const Tally t = found != totals.kinds.end() ? found->second : Tally();
    text += "| " + std::string(kind.name) + " | " + kind.what + " | " + std::to_string(t.drawn) +
            " | " + std::to_string(t.counted) + " | " + std::to_string(t.detected) + " | " +
            std::to_string(t.located) + " | " + (t.counted > 0 ? number(t.least) : "–") + " |\n";
  }
  text += "\n## Not found, or found elsewhere\n\n";
  bool any = false;
  for (const Draw& draw : result.draws) {
    if (!draw.counts || draw.located || kind_of(draw.fault).is_control) continue;
    any = true;
    text += "- " + draw.fault.kind + " at `" + draw.step + "` (" + draw.fault.op + ") of " +
            draw.model + ", " + number(draw.budgets) +
            " budgets: " + (draw.detected ? draw.reported : "nothing was reported") + "\n";
  }
  if (!any) text += "None.\n";
  text += "\n## Draws left out\n\n| model | fault | step | budgets |\n| --- | --- | --- | --- |\n";
  for (const Draw& draw : result.draws) {
    if (draw.counts || kind_of(draw.fault).is_control) continue;
    text += "| " + draw.model + " | " + draw.fault.kind + " | `" + draw.step + "` (" +
            draw.fault.op + ") | " + number(draw.budgets) + " |\n";
  }
  return text;
}

}  // namespace concord::faults
