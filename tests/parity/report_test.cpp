#include "parity/report.h"

#include <gtest/gtest.h>

namespace concord::parity {
namespace {

ParticipantReport participant(Verdict verdict, ErrorKind kind = ErrorKind::failed) {
  ParticipantReport p;
  p.spec = "cpu";
  p.verdict = verdict;
  p.error_kind = kind;
  if (verdict == Verdict::failed || verdict == Verdict::unsupported) p.error = "it <broke> & burnt";
  return p;
}

Report report_of(std::vector<ParticipantReport> participants) {
  Report report;
  report.models.resize(1);
  report.models[0].path = "model \"<&>\".onnx";
  report.models[0].cases.resize(1);
  report.models[0].cases[0].label = "batch=1";
  report.models[0].cases[0].reference = "float64 oracle";
  report.models[0].cases[0].participants = std::move(participants);
  return report;
}

TEST(Report, ExitCodes) {
  EXPECT_EQ(report_of({participant(Verdict::agrees)}).exit_code(), 0);
  EXPECT_EQ(report_of({participant(Verdict::diverged)}).exit_code(), 1);
  EXPECT_EQ(report_of({participant(Verdict::shape)}).exit_code(), 1);
  EXPECT_EQ(report_of({participant(Verdict::unsupported)}).exit_code(), 3);
  EXPECT_EQ(report_of({participant(Verdict::failed)}).exit_code(), 5);
  // Several at once: 2 before 5 before 3 before 1.
  EXPECT_EQ(
      report_of({participant(Verdict::diverged), participant(Verdict::unsupported)}).exit_code(),
      3);
  EXPECT_EQ(
      report_of({participant(Verdict::failed), participant(Verdict::unsupported)}).exit_code(), 5);
  EXPECT_EQ(
      report_of({participant(Verdict::failed), participant(Verdict::failed, ErrorKind::invalid)})
          .exit_code(),
      2);
}

TEST(Report, WorstVerdictIsTheModels) {
  EXPECT_EQ(report_of({participant(Verdict::agrees), participant(Verdict::diverged)}).verdict(),
            Verdict::diverged);
}

TEST(Report, MarkupIsEscaped) {
  const Report report = report_of({participant(Verdict::failed)});
  const std::string junit = to_junit(report);
  EXPECT_NE(junit.find("it &lt;broke&gt; &amp; burnt"), std::string::npos) << junit;
  EXPECT_EQ(junit.find("<broke>"), std::string::npos);
  EXPECT_NE(junit.find("errors=\"1\""), std::string::npos);
  Report hostile = report;
  hostile.models[0].path = "</script><script>alert(1)</script>";
  const std::string html = to_html(hostile);
  EXPECT_EQ(html.find("</script><script>alert"), std::string::npos);
  EXPECT_NE(to_markdown(report).find("**failed**"), std::string::npos);
}

TEST(Report, JunitCountsOneCasePerOutput) {
  ParticipantReport p = participant(Verdict::diverged);
  p.outputs.resize(3);
  p.outputs[1].verdict = Verdict::diverged;
  p.outputs[1].note = "far off";
  const std::string junit = to_junit(report_of({p}));
  EXPECT_NE(junit.find("tests=\"3\" failures=\"1\" errors=\"0\""), std::string::npos) << junit;
}

}  // namespace
}  // namespace concord::parity
