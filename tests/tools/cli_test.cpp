#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace concord::tests {
namespace {

using nlohmann::json;

TEST(Help, NamesEverySubcommandAndFitsTheTerminal) {
  const Outcome outcome = concord({"--help"});
  EXPECT_EQ(outcome.exit, 0);
  for (const char* name : {"devices", "inspect", "run", "parity", "bench", "conformance"}) {
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
    const Outcome help = concord({name, "--help"});
    EXPECT_EQ(help.exit, 0) << name;
    EXPECT_NE(help.out.find("Example"), std::string::npos) << name;
  }
}

TEST(Devices, SaysWhyABackendIsAbsent) {
  const Outcome outcome = concord({"devices", "--json", "-"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report.at("schema"), 1);
  bool reference = false;
  for (const json& backend : report.at("backends")) {
    reference = reference || backend.at("name") == "reference";
    if (backend.at("available").get<bool>()) {
      EXPECT_FALSE(backend.at("devices").empty());
    } else {
      EXPECT_FALSE(backend.at("reason").get<std::string>().empty());
    }
  }
  EXPECT_TRUE(reference);
}

TEST(Run, WritesOutputsInBothFormats) {
  const TemporaryFolder folder;
  for (const char* format : {"pb", "npy"}) {
    const std::string out = (folder.path() / format).string();
    const Outcome outcome = concord({"run", bundled("bert__dynamo20"), "--backend", "reference",
                                     "--output", out, "--format", format});
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
  }
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "pb" / "output_0.pb"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "npy" / "last_hidden_state.npy"));
}

TEST(Run, GeneratedInputsDependOnTheSeedAlone) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& seed, const std::string& name) {
    const std::string out = (folder.path() / name).string();
    const Outcome outcome = concord({"run", bundled("bert__dynamo20"), "--backend", "reference",
                                     "--set", "seq=5", "--seed", seed, "--output", out});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return read_file(out + "/output_0.pb");
  };
  const std::string first = run("7", "a");
  EXPECT_EQ(first, run("7", "b"));
  EXPECT_NE(first, run("8", "c"));
}

TEST(Run, WritesAChromeTrace) {
  const TemporaryFolder folder;
  const std::string trace = (folder.path() / "trace.json").string();
  const Outcome outcome =
      concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--profile", trace});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_FALSE(json::parse(read_file(trace)).at("traceEvents").empty());
}

TEST(Parity, ReportsInEveryForm) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const Outcome outcome =
      concord({"parity", bundled("bert__dynamo20"), "--backends", "reference", "--per-step",
               "--repeat", "2", "--seconds", "0.05", "--json", file("r.json"), "--html",
               file("r.html"), "--junit", file("r.xml"), "--markdown", file("r.md")});
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("All agree"), std::string::npos) << outcome.out;
  for (std::size_t start = 0; start < outcome.out.size();) {
    const std::size_t end = std::min(outcome.out.find('\n', start), outcome.out.size());
    EXPECT_LE(end - start, 100u) << outcome.out.substr(start, end - start);
    start = end + 1;
  }
  const json report = json::parse(read_file(file("r.json")));
  EXPECT_EQ(report.at("schema"), 1);
  EXPECT_EQ(report.at("verdict"), "agrees");
  const std::string html = read_file(file("r.html"));
  EXPECT_LT(html.size(), 1u << 20);
  EXPECT_EQ(html.find("http://"), std::string::npos);
  EXPECT_NE(read_file(file("r.xml")).find("<testsuite "), std::string::npos);
  EXPECT_NE(read_file(file("r.md")).find("all agree"), std::string::npos);
}

TEST(Parity, JsonOnStdoutIsAlone) {
  const Outcome outcome = concord({"parity", bundled("bert__dynamo20"), "--backends", "reference",
                                   "--seconds", "0", "--json", "-"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("verdict"), "agrees");
}

TEST(Parity, DivergenceHasItsExitCode) {
  // No float32 result can meet a tolerance of nothing.
  const Outcome outcome = concord({"parity", bundled("bert__dynamo20"), "--backends", "reference",
                                   "--seconds", "0", "--atol", "0", "--rtol", "0"});
  EXPECT_EQ(outcome.exit, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("diverged"), std::string::npos);
}

TEST(Parity, UnreadableModelBesideAGoodOne) {
  const TemporaryFolder folder;
  const std::string bad = folder.write("bad.onnx", "no model");
  const Outcome outcome = concord(
      {"parity", bundled("bert__dynamo20"), bad, "--backends", "reference", "--seconds", "0"});
  EXPECT_EQ(outcome.exit, 2) << outcome.out;
  EXPECT_NE(outcome.out.find("bad.onnx"), std::string::npos);
  EXPECT_NE(outcome.out.find("agrees"), std::string::npos);
}

TEST(Bench, JsonHasTheContractsFields) {
  const Outcome outcome = concord({"bench", bundled("bert__dynamo20"), "--backends", "reference",
                                   "--seconds", "0.05", "--per-step", "--json", "-"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  const json& backend = report.at("backends").at(0);
  EXPECT_EQ(backend.at("spec"), "reference");
  EXPECT_GT(backend.at("latency_ms").at("median").get<double>(), 0);
  EXPECT_GE(backend.at("runs").get<int>(), 5);
  for (const char* name : {"load_ms", "compile_ms", "plan_ms", "first_run_ms", "peak_bytes"}) {
    EXPECT_TRUE(backend.contains(name)) << name;
  }
  EXPECT_FALSE(backend.at("steps").empty());
}

TEST(Bench, AFailureIsOfItsParticipantAlone) {
  const TemporaryFolder folder;
  const std::string profile = (folder.path() / "profile.json").string();
  const Outcome outcome =
      concord({"bench", bundled("gru__script17"), "--backends", "vulkan:device=no-such-device,cpu",
               "--seconds", "0", "--json", "-", "--profile", profile});
  EXPECT_NE(outcome.exit, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("vulkan:device=no-such-device"), std::string::npos) << outcome.err;
  const json backends = json::parse(outcome.out).at("backends");
  ASSERT_EQ(backends.size(), 2u);
  EXPECT_EQ(backends.at(0).at("spec"), "vulkan:device=no-such-device");
  EXPECT_EQ(backends.at(0).at("verdict"), "failed");
  EXPECT_NE(backends.at(0).at("error").at("message"), "");
  EXPECT_EQ(backends.at(1).at("spec"), "cpu");
  EXPECT_GT(backends.at(1).at("latency_ms").at("median").get<double>(), 0);
  EXPECT_NE(read_file(profile).find("gru"), std::string::npos);
}

TEST(Bench, ProfilesTheFirstThatWasMeasured) {
  const TemporaryFolder folder;
  const std::string profile = (folder.path() / "profile.json").string();
  const Outcome outcome =
      concord({"bench", bundled("gru__script17"), "--backends", "cpu", "--precision", "int8,f32",
               "--seconds", "0", "--profile", profile});
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("skipped cpu:precision=int8"), std::string::npos) << outcome.err;
  EXPECT_NE(read_file(profile).find("gru"), std::string::npos);
}

TEST(Devices, RefuseBeforeTheyMeasure) {
  const Outcome nan = concord({"devices", "--calibrate", "--seconds", "nan"});
  EXPECT_EQ(nan.exit, 2) << nan.out;
  EXPECT_NE(nan.err.find("nan"), std::string::npos) << nan.err;
  for (const char* option : {"--json", "--html"}) {
    const Outcome outcome = concord({"devices", "--calibrate", option, "/no/such/folder/file"});
    EXPECT_EQ(outcome.exit, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(option), std::string::npos) << outcome.err;
  }
}

TEST(Conformance, BundledModelsPassOnTheOracle) {
  const Outcome outcome =
      concord({"conformance", bundled("gru__script17"), "--backend", "reference", "--json", "-"});
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report.at("total"), 1);
  EXPECT_EQ(report.at("passed"), 1);
}

TEST(Conformance, AStaleGapFails) {
  const TemporaryFolder folder;
  const std::string gaps = folder.write("gaps.txt", "gru__script17 it is said to fail\n");
  const Outcome outcome =
      concord({"conformance", bundled("gru__script17"), "--backend", "reference", "--gaps", gaps});
  EXPECT_EQ(outcome.exit, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("passes now"), std::string::npos) << outcome.out;
}

TEST(Conformance, AStaleFallbackFails) {
  const TemporaryFolder folder;
  const std::string list = folder.write("fallbacks.txt", "gru__script17 it is said to fall back\n");
  const Outcome outcome = concord(
      {"conformance", bundled("gru__script17"), "--backend", "reference", "--fallbacks", list});
  EXPECT_EQ(outcome.exit, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("needs no fallback now"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace concord::tests
