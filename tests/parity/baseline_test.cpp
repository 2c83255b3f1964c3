#include "parity/baseline.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graph/error.h"
#include "parity/report.h"

namespace concord::parity {
namespace {

using nlohmann::json;

// One participant with an error and a time.
Report report_of(double rms_error, double median_ms, double yardstick_ms = 3, double floor = 1.05) {
  Report report;
  report.machine.processor = "processor";
  ModelReport model;
  model.path = "m.onnx";
  model.sha256 = "aaaa";
  model.opsets = {{"ai.onnx", 17}};
  CaseReport one;
  one.label = "batch=1";
  ParticipantReport p;
  p.spec = "cpu";
  p.device.name = "device";
  p.device.driver = "driver";
  p.device.type = "cpu";
  p.version = "1";
  OutputReport output;
  output.name = "y";
  output.expected_rms = 1e-6;
  output.metrics.rms_error = rms_error;
  p.outputs = {output};
  Performance performance;
  performance.spec = "cpu";
  for (int i = 0; i < 10; ++i) performance.rounds.push_back(median_ms * (1 + 0.002 * (i - 5)));
  performance.times = performance.rounds;
  performance.latency = latency_of(performance.times);
  p.performance = performance;
  one.participants = {p};
  Calibration calibration;
  calibration.floor = floor;
  for (int i = 0; i < 10; ++i) {
    calibration.yardstick.push_back(yardstick_ms * (1 + 0.002 * (i - 5)));
  }
  one.calibration = calibration;
  model.cases = {one};
  report.models = {model};
  return report;
}

ParticipantReport& participant(Report& report) {
  return report.models[0].cases[0].participants[0];
}

BaselineReport against(const Report& now, const Report& then) {
  return compare_with_baseline(now, json::parse(to_json_text(then)), "old.json");
}

Change change_of(const BaselineReport& report, BaselineSubject subject) {
  for (const BaselineFinding& f : report.findings) {
    if (f.subject == subject) return f.change;
  }
  ADD_FAILURE() << "no finding";
  return Change::same;
}

int exit_code(Report now, const Report& then) {
  now.baseline = against(now, then);
  return now.exit_code();
}

TEST(Baseline, AsBefore) {
  const Report report = report_of(1e-7, 4);
  EXPECT_EQ(exit_code(report, report), 0);
  EXPECT_EQ(change_of(against(report, report), BaselineSubject::numbers), Change::same);
  EXPECT_EQ(change_of(against(report, report), BaselineSubject::speed), Change::same);
}

TEST(Baseline, SlowerBeyondTheNoise) {
  EXPECT_EQ(exit_code(report_of(1e-7, 5), report_of(1e-7, 4)), 4);
  EXPECT_EQ(change_of(against(report_of(1e-7, 4), report_of(1e-7, 5)), BaselineSubject::speed),
            Change::better);
}

TEST(Baseline, SlowerWithinTheNoiseIsInconclusive) {
  const Report then = report_of(1e-7, 4, 3, 1.3);
  const Report now = report_of(1e-7, 5);
  EXPECT_EQ(exit_code(now, then), 0);
  EXPECT_EQ(change_of(against(now, then), BaselineSubject::speed), Change::inconclusive);
}

TEST(Baseline, ASlowerMachineIsNoSlowerBackend) {
  EXPECT_EQ(exit_code(report_of(1e-7, 5, 3.9), report_of(1e-7, 4, 3)), 0);
  // But it does not hide what is more than the machine.
  EXPECT_EQ(exit_code(report_of(1e-7, 8, 3.9), report_of(1e-7, 4, 3)), 4);
}

TEST(Baseline, NumbersGotWorseBeyondRounding) {
  EXPECT_EQ(exit_code(report_of(3e-6, 4), report_of(1e-7, 4)), 1);
  EXPECT_EQ(exit_code(report_of(0.9e-6, 4), report_of(1e-7, 4)), 0);
  EXPECT_EQ(change_of(against(report_of(1e-7, 4), report_of(3e-6, 4)), BaselineSubject::numbers),
            Change::better);
}

TEST(Baseline, NumbersBeforeSpeed) {
  EXPECT_EQ(exit_code(report_of(3e-6, 8), report_of(1e-7, 4)), 1);
}

TEST(Baseline, AVerdictThatGotWorse) {
  Report now = report_of(1e-7, 4);
  participant(now).verdict = Verdict::diverged;
  EXPECT_EQ(exit_code(now, report_of(1e-7, 4)), 1);
  // One that was as bad before is the verdict's affair, not the baseline's.
  EXPECT_EQ(change_of(against(now, now), BaselineSubject::numbers), Change::same);
}

TEST(Baseline, SaysWhatDiffersWhereNothingCanBeCompared) {
  const auto text = [](const Report& now) {
    const BaselineReport report = against(now, report_of(1e-7, 4));
    EXPECT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].change, Change::not_comparable);
    EXPECT_FALSE(report.worse(BaselineSubject::speed));
    return report.findings[0].text;
  };
  Report now = report_of(1, 400);
  participant(now).device.driver = "new driver";
  EXPECT_NE(text(now).find("driver was 'driver', is 'new driver'"), std::string::npos);
  now = report_of(1, 400);
  now.models[0].sha256 = "bbbb";
  now.models[0].opsets["ai.onnx"] = 18;
  EXPECT_NE(text(now).find("the model changed"), std::string::npos);
  EXPECT_NE(text(now).find("opset of ai.onnx was 17, is 18"), std::string::npos);
  now = report_of(1, 400);
  now.models[0].cases[0].label = "batch=2";
  EXPECT_NE(text(now).find("does not have this case"), std::string::npos);
  now = report_of(1, 400);
  participant(now).spec = "vulkan";
  EXPECT_NE(text(now).find("does not have this participant"), std::string::npos);
}

TEST(Baseline, AnotherProcessorIsNotTimed) {
  Report now = report_of(1e-7, 400);
  now.machine.processor = "another";
  EXPECT_EQ(exit_code(now, report_of(1e-7, 4)), 0);
  EXPECT_EQ(change_of(against(now, report_of(1e-7, 4)), BaselineSubject::speed),
            Change::not_comparable);
}

TEST(Baseline, WhatIsNoReportIsRefused) {
  for (const char* text : {"[]", "{}", "{\"schema\": 2, \"verdict\": \"agrees\"}", "3"}) {
    EXPECT_THROW(compare_with_baseline(report_of(0, 1), json::parse(text), "f"), Error) << text;
  }
  // Members of other types than a report's are as if they were absent.
  const json odd = {{"schema", 1}, {"verdict", 3}, {"model", {{"sha256", "aaaa"}}}, {"cases", 7}};
  EXPECT_EQ(compare_with_baseline(report_of(0, 1), odd, "f").findings[0].change,
            Change::not_comparable);
}

}  // namespace
}  // namespace concord::parity
