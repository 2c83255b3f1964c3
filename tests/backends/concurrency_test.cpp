// One session run by many threads, and many sessions on one model: the same bits as alone.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "backends/registry.h"
#include "backends/session.h"
#include "graph/error.h"
#include "tests/backends/models.h"

namespace concord {
namespace {

constexpr int kThreads = 16;
constexpr int kRuns = 6;

struct Case {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;  // of a run alone
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), identical);
}

class Concurrency : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    const std::string spec = std::get<0>(GetParam());
    if (!tests::starts_here(spec)) GTEST_SKIP() << spec << " does not start here";
  }
};

TEST_P(Concurrency, OneSessionManyThreads) {
  const auto& [spec, name] = GetParam();
  const auto model = importer::load(tests::bundled(name));
  Session session(model.graph, spec);
  // Two data sets: threads meet plans of other extents at the same time.
  std::vector<Case> cases;
  for (const int number : {0, 1}) {
    Case one;
    one.inputs = tests::data_set(name, *model.graph, number);
    one.outputs = session.run(one.inputs);
    cases.push_back(std::move(one));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < kRuns; ++run) {
        const Case& one = cases[static_cast<std::size_t>((t + run) % 2)];
        if (!same(session.run(one.inputs), one.outputs)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Concurrency, ManySessionsOneModel) {
  const auto& spec = std::get<0>(GetParam());
  const auto& name = std::get<1>(GetParam());
  const auto model = importer::load(tests::bundled(name));
  Case one;
  one.inputs = tests::data_set(name, *model.graph, 0);
  one.outputs = Session(model.graph, spec).run(one.inputs);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      Session session(model.graph, spec);
      if (!same(session.run(one.inputs), one.outputs)) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The names that an error tells are read while others are added.
TEST(RegistryConcurrency, NamesAreReadUnderTheLock) {
  std::thread adds([] {
    for (int i = 0; i < 500; ++i) register_backend("added" + std::to_string(i), nullptr);
  });
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    try {
      require_known("tpu");
    } catch (const Error&) {
      ++refused;
    }
  }
  adds.join();
  EXPECT_EQ(refused, 500);
}

std::string case_name(const testing::TestParamInfo<Concurrency::ParamType>& at) {
  return std::string(std::get<0>(at.param)) + "_" + std::get<1>(at.param);
}

INSTANTIATE_TEST_SUITE_P(All, Concurrency,
                         testing::Combine(testing::Values("cpu", "vulkan"),
                                          testing::Values("bert__dynamo20",
                                                          "llama_past__dynamo20")),
                         case_name);

}  // namespace
}  // namespace concord
