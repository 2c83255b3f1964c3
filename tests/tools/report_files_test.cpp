// What a report leaves behind for machines: JUnit, JSON, a baseline for the next one.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace concord::tests {
namespace {

using nlohmann::json;

TEST(Junit, AStandardParserReadsIt) {
  if (std::system("command -v xmllint >/dev/null") != 0) {
    GTEST_SKIP() << "no xmllint here: install Debian's libxml2-utils to run this test";
  }
  const TemporaryFolder folder;
  const std::string bad = folder.write("<bad> & \"worse\".onnx", "no model");
  const std::string file = (folder.path() / "report.xml").string();
  const Outcome outcome = concord({"parity", bad, bundled("bert__dynamo20"), "--backends",
                                   "reference", "--atol", "0", "--seconds", "0", "--junit", file});
  ASSERT_EQ(outcome.exit, 2) << outcome.out << outcome.err;
  const std::string command =
      "xmllint --noout --schema " CONCORD_SOURCE_DIR "/tests/tools/junit.xsd " + file + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(file);
}

TEST(Baseline, OfItselfPassesAndAnEditedOneFails) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::vector<std::string> command = {
      "parity", bundled("bert__dynamo20"), "--backends", "cpu", "--seconds", "0", "--json"};
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words = command;
    words.insert(words.end(), more.begin(), more.end());
    return concord(words);
  };
  ASSERT_EQ(run({file("old.json")}).exit, 0);
  const Outcome same = run({file("new.json"), "--baseline", file("old.json")});
  EXPECT_EQ(same.exit, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("numbers same"), std::string::npos) << same.out;
  json report = json::parse(read_file(file("old.json")));
  json& output = report["cases"][0]["participants"][0]["outputs"][0];
  output["rms_error"] = 0.0;
  output["expected_rms"] = 0.0;
  const std::string better = folder.write("better.json", report.dump());
  // An error of nothing is out of reach, but not by more than rounding makes.
  EXPECT_EQ(run({file("new.json"), "--baseline", better}).exit, 0);
  report["cases"][0]["participants"][0]["driver"] = "another";
  const Outcome other = run({"-", "--baseline", folder.write("other.json", report.dump())});
  EXPECT_EQ(other.exit, 0);
  const json findings = json::parse(other.out).at("baseline").at("findings");
  EXPECT_EQ(findings.at(0).at("change"), "not comparable");
}

TEST(Baseline, WhatCannotBeReadIsUsage) {
  const TemporaryFolder folder;
  for (const std::string& file :
       {(folder.path() / "absent.json").string(), folder.write("odd.json", "{]"),
        folder.write("list.json", "[1]")}) {
    const Outcome outcome = concord(
        {"parity", bundled("bert__dynamo20"), "--backends", "reference", "--baseline", file});
    EXPECT_EQ(outcome.exit, 2) << outcome.out;
    EXPECT_NE(outcome.err.find("hint"), std::string::npos);
  }
}

TEST(Matrix, SpecsTimesShapesTimesPrecisions) {
  const Outcome outcome = concord({"parity", bundled("bert__dynamo20"), "--backends",
                                   "cpu,cpu:threads=1", "--precision", "f32,bf16,int8", "--set",
                                   "seq=4,8", "--seconds", "0", "--json", "-"});
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report.at("cases").size(), 2u);
  for (const json& one : report.at("cases")) {
    EXPECT_EQ(one.at("participants").size() + report.at("skipped").size(), 6u);
    const json& agreement = one.at("agreement");
    // The same backend gives the same bits whatever the number of threads; bf16 does not.
    std::map<std::string, int> classes;
    for (const json& p : agreement.at("participants")) classes[p.at("spec")] = p.at("class");
    EXPECT_EQ(classes.at("cpu:precision=f32"), classes.at("cpu:threads=1,precision=f32"));
    EXPECT_NE(classes.at("cpu:precision=f32"), classes.at("cpu:precision=bf16"));
  }
}

TEST(Performance, PlacesStepsAndSaysWhatCouldBe) {
  const TemporaryFolder folder;
  const Outcome outcome =
      concord({"bench", bundled("bert__dynamo20"), "--backends", "cpu,cpu:threads=1", "--seconds",
               "0.1", "--per-step", "--json", (folder.path() / "bench.json").string()},
              cache_in(folder));
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("could be"), std::string::npos) << outcome.out;
  const json report = json::parse(read_file(folder.path() / "bench.json"));
  EXPECT_GE(report.at("noise").at("floor").get<double>(), 1);
  const json& cpu = report.at("backends").at(1);
  EXPECT_TRUE(cpu.contains("against_first"));
  const json& roofline = cpu.at("roofline");
  EXPECT_GT(roofline.at("lower_ms").get<double>(), 0);
  EXPECT_LE(roofline.at("moved_bytes").get<double>(), roofline.at("unfused_bytes").get<double>());
  for (const json& step : cpu.at("steps")) EXPECT_TRUE(step.contains("bound"));
  // Remembered: the next report measures nothing.
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "concord" / "ceilings.json"));
}

// Several Vulkan drivers in one report, as tools/vulkan_drivers.sh finds them.
TEST(Drivers, OneReportComparesThem) {
  if (!std::filesystem::exists(CONCORD_BINARY_DIR "/libconcord_vulkan.so")) {
    GTEST_SKIP() << "the Vulkan backend is not built";
  }
  const std::string environment =
      "drivers=$(" CONCORD_SOURCE_DIR "/tools/vulkan_drivers.sh) && eval \"$drivers\";";
  const Outcome listed = concord({"devices", "--json", "-"}, environment);
  ASSERT_EQ(listed.exit, 0) << listed.err;
  std::vector<std::string> specs;
  std::string list = "cpu";
  const json devices = json::parse(listed.out);
  for (const json& backend : devices.at("backends")) {
    if (backend.at("name") != "vulkan") continue;
    for (const json& device : backend.at("devices")) {
      specs.push_back("vulkan:device=" + std::to_string(device.at("index").get<int>()));
      list += "," + specs.back();
    }
  }
  if (specs.size() < 2) GTEST_SKIP() << "fewer than two Vulkan drivers are here";
  const Outcome outcome = concord(
      {"parity", bundled("bert__dynamo20"), "--backends", list, "--seconds", "0", "--json", "-"},
      environment);
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  const json report = json::parse(outcome.out);
  const json& one = report.at("cases").at(0);
  // Beside the drivers: cpu, and the outputs in the data set.
  EXPECT_EQ(one.at("agreement").at("participants").size(), specs.size() + 2);
  std::set<std::string> drivers;
  for (const json& p : one.at("participants")) {
    EXPECT_EQ(p.at("verdict"), "agrees") << p.at("spec");
    drivers.insert(p.at("driver"));
    for (const json& fallback : p.value("fallback", json::array())) {
      EXPECT_TRUE(fallback.at("by_nature")) << p.at("spec") << ": " << fallback;
    }
  }
  EXPECT_EQ(drivers.size(), specs.size() + 2);
}

TEST(Devices, HtmlNeedsMeasurements) {
  EXPECT_EQ(concord({"devices", "--html", "x.html"}).exit, 2);
  EXPECT_EQ(concord({"devices", "--seconds", "none"}).exit, 2);
}

}  // namespace
}  // namespace concord::tests
