// Options that make no sense: refused before any work, with what is wrong and what to do.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/tools/expect_error.h"

namespace concord::tests {
namespace {

const std::string kModel = bundled("gru__script17");

Outcome parity(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"parity", kModel, "--backends", "reference", "--seconds", "0"};
  words.insert(words.end(), more.begin(), more.end());
  return concord(words);
}

TEST(Numbers, NanAndNegativeOnesAreNone) {
  for (const char* option : {"--seconds", "--atol", "--rtol"}) {
    for (const char* number : {"nan", "-1", "-nan", "inf", "many"}) {
      const Outcome outcome =
          concord({"parity", kModel, "--backends", "reference", option, number});
      expect_error(outcome, 2, {option, number});
    }
  }
  expect_error(concord({"bench", kModel, "--seconds", "nan"}), 2, {"--seconds", "nan"});
}

TEST(Files, EmptyNamesAreNone) {
  expect_error(concord({"run", kModel, "--backend", "reference", "--output", ""}), 2,
               {"--output", "empty"});
  expect_error(concord({"run", kModel, "--backend", "reference", "--set", ""}), 2,
               {"--set", "empty"});
  expect_error(parity({"--json", ""}), 2, {"--json", "empty"});
}

TEST(Files, OneForEachReport) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "report").string();
  expect_error(parity({"--json", file, "--html", file}), 2, {"--json", "--html", "report"});
  const std::string same = (folder.path() / "." / "report").string();
  expect_error(parity({"--json", file, "--junit", same}), 2, {"--json", "--junit"});
  expect_error(parity({"--json", "-", "--html", "-"}), 2, {"--json", "--html", "standard output"});
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Files, PlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  expect_error(parity({"--html", folder.path().string()}), 2, {"--html", "folder"});
  expect_error(parity({"--html", (folder.path() / "none" / "report.html").string()}), 2,
               {"--html", "none"});
}

TEST(Files, NamesThatAreTooLong) {
  const std::string name(300, 'a');
  expect_error(concord({"run", name, "--backend", "reference"}), 2, {"aaa"});
  expect_error(concord({"parity", name, "--backends", "reference"}), 2, {"aaa"});
  expect_error(concord({"conformance", name, "--backend", "reference"}), 2, {"aaa"});
  expect_error(concord({"run", kModel, "--backend", "reference", "--inputs", name}), 2, {"aaa"});
  expect_error(concord({"run", kModel, "--backend", "reference", "--inputs", "x=" + name}), 2,
               {"aaa"});
}

TEST(Files, AGapsFolderIsNone) {
  const TemporaryFolder folder;
  expect_error(
      concord({"conformance", kModel, "--backend", "reference", "--gaps", folder.path().string()}),
      2, {folder.path().filename().string()});
}

TEST(Files, ExternalRootMustBeAFolder) {
  expect_error(
      concord({"run", kModel, "--backend", "reference", "--external-root", "/no/such/folder"}), 2,
      {"--external-root", "/no/such/folder"});
}

TEST(Tolerances, JudgeByTheOutputsName) {
  const TemporaryFolder folder;
  const auto judged_by = [&folder](const std::string& json) {
    return concord({"parity", kModel, "--backends", "cpu", "--seconds", "0", "--tolerance",
                    folder.write("bounds.json", json)})
        .exit;
  };
  EXPECT_EQ(judged_by(R"({"y": {"rtol": 1}})"), 0);
  EXPECT_EQ(judged_by(R"({"y": {"rtol": 1e-30}, "*": {"rtol": 1}})"), 1);
  EXPECT_EQ(judged_by(R"({"*": {"atol": 1e-30}})"), 1);
}

TEST(Tolerances, FilesThatMakeNoSense) {
  const TemporaryFolder folder;
  const auto given = [&folder](const std::string& json) {
    return parity({"--tolerance", folder.write("bounds.json", json)});
  };
  expect_error(given("{"), 2, {"bounds.json", "JSON"});
  expect_error(given(R"({"logits": {"atol": 1}})"), 2, {"bounds.json", "logits", "y"});
  expect_error(given(R"({"y": {"atol": -1}})"), 2, {"bounds.json", "'y'", "atol", "-1"});
  expect_error(given(R"({"y": {"atol": "1"}})"), 2, {"'y'", "atol"});
  expect_error(given(R"({"y": {"tol": 1}})"), 2, {"'y'", "'tol'"});
  expect_error(given(R"({"y": {}})"), 2, {"'y'"});
  expect_error(parity({"--tolerance", "/no/such/file"}), 2, {"--tolerance", "/no/such/file"});
  expect_error(
      parity({"--tolerance", folder.write("bounds.json", R"({"y": {"atol": 1}})"), "--atol", "1"}),
      2, {"--tolerance", "--atol"});
}

TEST(Specs, KeysOnceAndOfTheBackend) {
  expect_error(concord({"run", kModel, "--backend", "cpu:threads=1,threads=2"}), 2,
               {"threads", "twice"});
  expect_error(concord({"run", kModel, "--backend", "cpu:replay=off"}), 2, {"replay", "cpu"});
  expect_error(concord({"run", kModel, "--backend", "reference:threads=1"}), 2,
               {"threads", "reference"});
  expect_error(concord({"parity", kModel, "--backends", "vulkan:matmul=portable"}), 2,
               {"matmul", "vulkan"});
}

TEST(Passes, UnknownNames) {
  for (const char* backend : {"reference", "cpu"}) {
    expect_error(concord({"run", kModel, "--backend", backend, "--disable-pass", "fuse_all"}), 2,
                 {"fuse_all", "fuse_matmul"});
  }
}

TEST(Sizes, CombinationsAreBounded) {
  std::string many = "1";
  for (int i = 2; i <= 3000; ++i) many += "," + std::to_string(i);
  expect_error(concord({"parity", bundled("bert__dynamo20"), "--backends", "reference", "--set",
                        "batch=" + many, "--set", "seq=" + many}),
               2, {"3000", "combinations"});
}

TEST(Environment, NoFolderForTemporaryFiles) {
  const Outcome outcome = concord({"parity", kModel, "--backends", "reference", "--seconds", "0"},
                                  "TMPDIR=/no/such/folder");
  expect_error(outcome, 5, {"/no/such/folder", "TMPDIR"});
}

}  // namespace
}  // namespace concord::tests
