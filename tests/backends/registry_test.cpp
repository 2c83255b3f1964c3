#include "backends/registry.h"

#include <algorithm>

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

}  // namespace
}  // namespace concord
