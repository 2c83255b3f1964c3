#include "tests/parity/schema.h"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "parity/report.h"

namespace concord::parity {
namespace {

using nlohmann::json;

json schema() {
  std::ifstream in(CONCORD_SOURCE_DIR "/parity/report.schema.json");
  return json::parse(in);
}

// A report with every member filled, numbers that JSON cannot hold included.
Report full_report() {
  Report report;
  report.version = "0";
  report.date = "2000-01-01T00:00:00Z";
  report.machine = {"processor", 2, 1, "system"};
  report.skipped = {"cuda: absent"};
  ModelReport model;
  model.path = "m.onnx";
  model.opsets = {{"ai.onnx", 20}};
  CaseReport one;
  one.label = "case";
  one.dims = {{"seq", 3}};
  ParticipantReport p;
  p.spec = "cpu";
  p.verdict = Verdict::non_finite;
  p.error = "message";
  p.hint = "hint";
  p.taps_changed_outputs = false;
  p.repeats = 3;
  p.repeats_that_differ = 1;
  p.determinism.push_back({"3 runs", false, 3, 1, "matmul 'a'", "note"});
  ToggleReport toggle;
  toggle.name = "fusion=off";
  toggle.squared_error = std::numeric_limits<double>::infinity();
  toggle.error = "why";
  p.toggles.push_back(toggle);
  p.decode = DecodeReport{{1, 2}, {3, 4}, 1, 1, 5, 6, 0.5, 0.25, "why"};
  p.minimal = MinimalReport{"folder", "step matmul over budget", 1, 1, 3, true, "concord", ""};
  p.fallbacks.push_back({1, "node", "Op", "reason", false});
  OutputReport output;
  output.name = "y";
  output.dtype = DataType::f32;
  output.shape = {1, 2};
  output.metrics.snr_db = std::numeric_limits<double>::infinity();
  output.metrics.max_rel = std::numeric_limits<double>::quiet_NaN();
  output.metrics.top1 = 1;
  output.metrics.top5 = 1;
  output.metrics.worst = {1, 2, 3};
  output.expected_rms = 0.5;
  p.outputs.push_back(output);
  StepReport step;
  step.path = {{1, 0}};
  step.judged = true;
  step.worst = {1, 2, 3};
  step.around = {1, std::numeric_limits<double>::infinity()};
  step.around_reference = {1, 2};
  step.origin = NonFiniteOrigin{"NaN at [0]", 1, {"float32[1]: 2"}};
  step.exact = true;
  step.largest = 0;
  step.headroom = std::numeric_limits<double>::infinity();
  p.steps.push_back(step);
  step.judged = false;
  p.steps.push_back(step);
  Performance performance;
  performance.spec = "cpu";
  performance.times = {1, 2, 3};
  performance.latency = latency_of(performance.times);
  performance.steps.resize(1);
  performance.rounds = {1, 2, 3};
  performance.against_first = judge_ratio({1, 0.9, 1.2, 0.96}, 1.1);
  performance.transfer_ms = 1;
  Roofline roofline;
  roofline.steps.resize(1);
  roofline.kernels = {{"kernel", 1, 2, 1, 3, 4, Bound::memory}};
  roofline.ceilings.copies = {{1, 2}};
  roofline.ceilings.reads = {{1, 2}};
  roofline.ceilings.matmuls = {{"float32", 1, {{16, 2, "kernel"}}}};
  performance.roofline = roofline;
  performance.floor = Floor{1, 2, 3, Bound::memory};
  p.performance = performance;
  p.steps[0].bound = Bound::memory;
  one.participants.push_back(p);
  Agreement agreement;
  agreement.participants = {"cpu", "vulkan"};
  agreement.classes = {0, 1};
  agreement.pairs = {{0, 1, false, std::numeric_limits<double>::infinity()}, {0, 1, true, {}}};
  one.agreement = agreement;
  Calibration calibration;
  calibration.spec = "cpu";
  calibration.twins = Interval{1, 0.9, 1.1, 0.96};
  calibration.yardstick = {3};
  one.calibration = calibration;
  one.measuring_error = "it broke";
  model.cases.push_back(one);
  report.models.push_back(model);
  BaselineReport baseline;
  baseline.path = "old.json";
  baseline.findings.resize(1);
  report.baseline = baseline;
  return report;
}

void expect_valid(const Report& report) {
  const std::vector<std::string> problems =
      tests::violations(schema(), json::parse(to_json_text(report)));
  for (const std::string& problem : problems) ADD_FAILURE() << problem;
}

TEST(Schema, OneModel) {
  expect_valid(full_report());
}

TEST(Schema, SeveralModels) {
  Report report = full_report();
  report.models.push_back(report.models[0]);
  report.models[1].error = "unreadable";
  report.models[1].cases.clear();
  expect_valid(report);
}

TEST(Schema, TheValidatorFindsWhatIsWrong) {
  json document = json::parse(to_json_text(full_report()));
  document["verdict"] = "maybe";
  document.erase("machine");
  document["cases"][0]["participants"][0]["outputs"][0]["max_abs"] = "large";
  document["cases"][0]["surprise"] = 1;
  EXPECT_EQ(tests::violations(schema(), document).size(), 4u);
}

}  // namespace
}  // namespace concord::parity
