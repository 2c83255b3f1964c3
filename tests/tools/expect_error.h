#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace concord::tests {

// The first line on stderr is the error, the second the hint; nothing crashed.
inline void expect_error(const Outcome& outcome, int exit, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.exit, exit) << outcome.err;
  const std::string first = outcome.err.substr(0, outcome.err.find('\n'));
  EXPECT_TRUE(first.starts_with("concord: error: ")) << outcome.err;
  EXPECT_EQ(outcome.err.find("internal"), std::string::npos) << outcome.err;
  for (const std::string& word : words) {
    EXPECT_NE(outcome.err.find(word), std::string::npos)
        << "'" << word << "' is not in: " << outcome.err;
  }
  EXPECT_NE(outcome.err.find("\nhint: "), std::string::npos) << outcome.err;
}

}  // namespace concord::tests
