// The HTML pages as a browser shows them.

#include <gtest/gtest.h>

#include "tests/tools/browser.h"
#include "tests/tools/program.h"

namespace concord::tests {
namespace {

void expect_renders(const std::filesystem::path& page, int least_charts) {
  for (const bool dark : {false, true}) {
    const auto rendered = render(page, dark);
    if (!rendered) GTEST_SKIP() << "no Chromium here: install Debian's chromium to run this test";
    EXPECT_EQ(rendered->console, "");
    EXPECT_EQ(rendered->attribute("data-script-error"), "");
    ASSERT_EQ(rendered->attribute("data-rendered"), "yes") << rendered->dom.substr(0, 2000);
    EXPECT_EQ(rendered->attribute("data-theme"), dark ? "dark" : "light");
    EXPECT_EQ(rendered->attribute("data-empty-charts"), "");
    EXPECT_GE(std::stoi("0" + rendered->attribute("data-charts")), least_charts);
  }
}

TEST(Html, TheReportRendersWithEveryChart) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "report.html").string();
  // The tables of a participant that fails have no numbers to show.
  const Outcome outcome =
      concord({"parity", bundled("bert__dynamo20"), "--backends", "cpu,cpu:threads=1,reference",
               "--set", "seq=8,16", "--per-step", "--seconds", "0.05", "--html", page},
              "XDG_CACHE_HOME='" + folder.path().string() + "'");
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_LT(std::filesystem::file_size(page), 1u << 20);
  // Latency, depth, roofline and a kernel chart of each participant, for both cases.
  expect_renders(page, 2 * 5);
}

TEST(Html, AReportOfFailuresRenders) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "report.html").string();
  const std::string bad = folder.write("bad.onnx", "no </script> model");
  const Outcome outcome = concord({"parity", bad, bundled("bert__dynamo20"), "--backends",
                                   "reference", "--atol", "0", "--seconds", "0", "--html", page});
  EXPECT_EQ(outcome.exit, 2) << outcome.out << outcome.err;
  expect_renders(page, 0);
}

TEST(Html, CeilingsOfDevicesRender) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "devices.html").string();
  const Outcome outcome =
      concord({"devices", "--calibrate", "--seconds", "0.2", "--html", page, "--json",
               (folder.path() / "devices.json").string()},
              // A driver that compiles for the CPU takes long.
              "VK_ICD_FILENAMES=/nonexistent XDG_CACHE_HOME='" + folder.path().string() + "'");
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  expect_renders(page, 2);
}

}  // namespace
}  // namespace concord::tests
