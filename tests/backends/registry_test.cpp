#include "backends/registry.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "graph/error.h"

namespace concord {
namespace {

TEST(Registry, ListsTheOracleAndSaysWhyOthersAreAbsent) {
  const std::vector<BackendStatus> backends = list_backends();
  ASSERT_FALSE(backends.empty());
  EXPECT_EQ(backends.front().name, "reference");
  EXPECT_TRUE(backends.front().available);
  for (const char* name : {"cpu", "cuda", "vulkan"}) {
    const auto it = std::find_if(backends.begin(), backends.end(),
                                 [&](const BackendStatus& b) { return b.name == name; });
    ASSERT_NE(it, backends.end()) << name;
    EXPECT_NE(it->available, !it->reason.empty()) << name << ": " << it->reason;
    EXPECT_EQ(it->available, !it->devices.empty()) << name;
  }
}

TEST(Registry, UnknownNameListsTheKnownOnes) {
  try {
    open_backend(parse_spec("tpu"));
    FAIL() << "an unknown backend was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.hint().find("reference"), std::string::npos);
    EXPECT_NE(error.hint().find("cpu"), std::string::npos);
  }
}

TEST(Registry, AbsentModuleIsAFailureWithItsReason) {
  for (const BackendStatus& status : list_backends()) {
    if (status.available) continue;
    try {
      open_backend(parse_spec(status.name));
      FAIL() << status.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failed) << status.name;
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
}

// A module compiled against another version of any header that it includes must be refused.
TEST(Registry, TheBuildIdCoversAllThatModulesInclude) {
  namespace fs = std::filesystem;
  std::ifstream list(CONCORD_BINARY_DIR "/generated/build_id_headers.txt");
  std::set<std::string> covered;
  for (std::string file; std::getline(list, file, ';');) {
    covered.insert(fs::path(file).lexically_relative(CONCORD_SOURCE_DIR).string());
  }
  const std::set<std::string> own = {"cpu", "gpu", "vulkan", "cuda"};
  int included = 0;
  for (const std::string& module : own) {
    const fs::path folder = fs::path(CONCORD_SOURCE_DIR "/backends") / module;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cpp" && extension != ".h") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("#include \"")) continue;
        const std::string header = line.substr(10, line.rfind('"') - 10);
        const fs::path path(header);
        const auto part = std::next(path.begin());
        if (part != path.end() && *path.begin() == "backends" && own.contains(part->string())) {
          continue;
        }
        if (!fs::exists(CONCORD_SOURCE_DIR / path)) continue;  // generated
        ++included;
        EXPECT_TRUE(covered.contains(header)) << header << ", included by " << entry.path();
      }
    }
  }
  EXPECT_GT(included, 50);
}

}  // namespace
}  // namespace concord
