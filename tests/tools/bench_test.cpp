// `concord bench` over several models.

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace concord::tests {
namespace {

using nlohmann::json;

std::string line_with(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind(word);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST(BenchOfSeveral, EndsWithOneTableThatABrokenModelIsIn) {
  const TemporaryFolder folder;
  const std::string models = (folder.path() / "models").string();
  std::filesystem::create_directory(models);
  for (const char* name : {"bert__dynamo20", "gru__script17"}) {
    std::filesystem::create_directory_symlink(bundled(name), models + "/" + name);
  }
  const std::string broken = folder.write("broken.onnx", "no model");
  const std::string file = (folder.path() / "bench.json").string();
  const std::string markdown = (folder.path() / "bench.md").string();
  const Outcome outcome =
      concord({"bench", models, broken, "--backends", "cpu:threads=1,cpu:threads=1,precision=bf16",
               "--seconds", "0.05", "--json", file, "--markdown", markdown},
              cache_in(folder));
  EXPECT_EQ(outcome.exit, 2) << outcome.err;
  EXPECT_EQ(outcome.err.find("broken.onnx"), outcome.err.rfind("broken.onnx")) << outcome.err;
  EXPECT_NE(outcome.err.find("hint: "), std::string::npos) << outcome.err;
  // The table comes last, with a share of the floor for what was measured.
  for (const char* name : {"bert__dynamo20", "gru__script17"}) {
    EXPECT_NE(line_with(outcome.out, name).find(" %"), std::string::npos) << outcome.out;
  }
  EXPECT_NE(line_with(outcome.out, "broken.onnx").find("failed"), std::string::npos);
  EXPECT_NE(outcome.out.find("geometric mean"), std::string::npos) << outcome.out;
  EXPECT_NE(read_file(markdown).find("| broken.onnx | - | failed | | failed | |\n"),
            std::string::npos)
      << read_file(markdown);

  const json report = json::parse(read_file(file));
  EXPECT_EQ(report.at("schema"), 1);
  ASSERT_EQ(report.at("models").size(), 3u);
  for (std::size_t i = 0; i < 2; ++i) {
    const json& model = report.at("models").at(i);
    EXPECT_TRUE(model.contains("noise"));
    ASSERT_EQ(model.at("backends").size(), 2u);
    for (const json& backend : model.at("backends")) {
      EXPECT_GT(backend.at("latency_ms").at("median").get<double>(), 0);
      EXPECT_GT(backend.at("floor").at("ms").get<double>(), 0);
      EXPECT_FALSE(backend.contains("steps"));
    }
    // Weights of bfloat16 are half as wide.
    EXPECT_LT(model.at("backends").at(1).at("floor").at("bytes").get<double>(),
              model.at("backends").at(0).at("floor").at("bytes").get<double>());
  }
  EXPECT_EQ(report.at("models").at(2).at("verdict"), "failed");
  EXPECT_NE(report.at("models").at(2).at("error").at("message"), "");
  const json& mean = report.at("geometric_means").at(0);
  EXPECT_EQ(mean.at("spec"), "cpu:threads=1,precision=bf16");
  EXPECT_EQ(mean.at("rows"), 2);
  EXPECT_GT(mean.at("ratio").get<double>(), 0);
}

TEST(BenchOfSeveral, AParticipantThatFailsIsInItsColumn) {
  const Outcome outcome =
      concord({"bench", bundled("gru__script17"), bundled("lstm__script17"), "--backends",
               "vulkan:device=no-such-device,reference", "--seconds", "0", "--quiet"});
  EXPECT_NE(outcome.exit, 0);
  const std::string row = line_with(outcome.out, "gru__script17");
  EXPECT_NE(row.find("failed"), std::string::npos) << outcome.out;
  // What did not run has no times to compare with, and the oracle no ceilings.
  EXPECT_EQ(outcome.out.find("geometric mean"), std::string::npos) << outcome.out;
  EXPECT_EQ(row.find('%'), std::string::npos) << outcome.out;
}

TEST(BenchOfSeveral, ATraceIsOfOneModel) {
  const TemporaryFolder folder;
  const Outcome outcome = concord({"bench", bundled("gru__script17"), bundled("bert__dynamo20"),
                                   "--profile", (folder.path() / "trace.json").string()});
  EXPECT_EQ(outcome.exit, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("--profile"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(BenchOfOne, HasARowForEachCaseInMarkdownAndItsOwnJson) {
  const TemporaryFolder folder;
  const std::string markdown = (folder.path() / "bench.md").string();
  const Outcome outcome =
      concord({"bench", bundled("gru__script17"), "--backends", "reference", "--seconds", "0",
               "--json", "-", "--markdown", markdown, "--set", "seq=3,4"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report.at("cases").size(), 2u);
  EXPECT_EQ(report.at("backends").at(0).at("spec"), "reference");
  EXPECT_FALSE(report.contains("models"));
  const std::string table = read_file(markdown);
  EXPECT_EQ(table.find("| case | floor, ms | reference, ms | of floor |"), 0u) << table;
  EXPECT_NE(table.find("seq=4 | - |"), std::string::npos) << table;
}

}  // namespace
}  // namespace concord::tests
