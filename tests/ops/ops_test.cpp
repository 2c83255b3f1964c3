// Every operator's cases on every backend that starts here.

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "backends/registry.h"
#include "graph/error.h"
#include "tests/ops/op_case.h"
#include "tests/ops/op_runner.h"

namespace concord::ops_test {
namespace {

struct Gap {
  const char* backend;
  const char* op;
  std::string pattern;
  const char* reason;
};

const std::vector<Gap>& gaps() {
  static const std::vector<Gap> list = {
#define UNSUPPORTED(backend, op, pattern, reason) {#backend, #op, pattern, reason},
#include "tests/ops/gaps.def"
#undef UNSUPPORTED
  };
  return list;
}

// CUDA takes its lowerings and types from where Vulkan does.
std::string lowerings_of(const std::string& backend) {
  return backend == "cuda" ? "vulkan" : backend;
}

const Gap* find_gap(const std::string& backend, std::string_view op, const std::string& name) {
  for (const Gap& gap : gaps()) {
    if (lowerings_of(backend) != gap.backend || op != gap.op) continue;
    if (gap.pattern.ends_with('*') ? name.starts_with(gap.pattern.substr(0, gap.pattern.size() - 1))
                                   : name == gap.pattern) {
      return &gap;
    }
  }
  return nullptr;
}

// Types that a backend refuses whatever the operator.
bool is_refused_type(const std::string& backend, const std::string& reason) {
  static const std::vector<std::pair<std::string, std::string>> list = {
#define UNKEPT_TYPE(name, type) {#name, type},
#include "tests/ops/gaps.def"
#undef UNKEPT_TYPE
  };
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) {
    return entry.first == lowerings_of(backend) &&
           reason == "type " + entry.second + " is not kept on the device";
  });
}

// What a backend refuses by a rule of its own, and says so: values or types beyond what it keeps.
bool is_refused_by_rule(const std::string& backend, const std::string& text) {
  static const std::vector<std::pair<std::string, std::string>> list = {
#define REFUSED_BY_RULE(name, part) {#name, part},
#include "tests/ops/gaps.def"
#undef REFUSED_BY_RULE
  };
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) {
    return entry.first == lowerings_of(backend) && text.find(entry.second) != std::string::npos;
  });
}

struct Suite {
  graph::OpKind op;
  const char* name;
  OpCases (*cases)();
};

constexpr Suite kSuites[] = {
#define CONCORD_OP(name) {graph::OpKind::name, #name, cases_##name},
#include "graph/ops.def"
#undef CONCORD_OP
};

// Opens a backend once per process; null with a reason if it does not start here.
struct Opened {
  std::shared_ptr<Backend> backend;
  std::string reason;
};

const Opened& open_once(const std::string& spec) {
  static std::map<std::string, Opened> opened;
  const auto [it, fresh] = opened.try_emplace(spec);
  if (fresh) {
    try {
      it->second.backend = open_backend(parse_spec(spec));
    } catch (const Error& error) {
      it->second.reason = error.what();
    }
  }
  return it->second;
}

void PrintTo(const Suite& suite, std::ostream* out) {
  *out << suite.name;
}

class OpTest : public testing::TestWithParam<std::tuple<std::string, Suite>> {};

TEST_P(OpTest, AgreesWithTheOracle) {
  const auto& [spec, suite] = GetParam();
  const Opened& opened = open_once(spec);
  if (opened.backend == nullptr) GTEST_SKIP() << opened.reason;
  const std::string backend(opened.backend->name());
  for (const OpCase& op_case : suite.cases()) {
    const Outcome outcome = run_case(*opened.backend, suite.op, op_case);
    if (outcome.unsupported.has_value() && is_refused_type(backend, *outcome.unsupported)) continue;
    // What must end in an error ends in one whether the backend has the operator or not.
    const Gap* gap =
        op_case.refusal.empty() ? find_gap(backend, suite.name, op_case.name) : nullptr;
    if (gap != nullptr) {
      EXPECT_TRUE(outcome.unsupported.has_value())
          << op_case.name << " runs now; take its gap (" << gap->reason << ") out of gaps.def";
      continue;
    }
    const std::string refusal = outcome.unsupported.value_or(outcome.failure);
    if (is_refused_by_rule(backend, refusal)) continue;
    EXPECT_FALSE(outcome.unsupported.has_value())
        << op_case.name << " is unsupported: " << *outcome.unsupported;
    EXPECT_EQ(outcome.failure, "") << op_case.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTest,
                         testing::Combine(testing::Values("cpu", "vulkan", "cuda"),
                                          testing::ValuesIn(kSuites)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace concord::ops_test
