// The pool: every item once, whatever the counts; budgets; nesting; many callers at once.

#include "backends/cpu/kernels/parallel.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/kernels/memory.h"

namespace concord::cpu {
namespace {

class Parallel : public ::testing::TestWithParam<Workers> {};

TEST_P(Parallel, EveryItemOnce) {
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads, GetParam());
    for (const std::int64_t count : {0, 1, 2, 3, 7, 100, 1001}) {
      for (const std::int64_t grain : {1, 3, 50, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
        std::atomic<int> pieces{0};
        parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          ++pieces;
          ASSERT_LT(begin, end);
          if (count >= grain) {
            EXPECT_GE(end - begin, grain);
          }
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (const auto& times : seen) EXPECT_EQ(times.load(), 1);
        EXPECT_EQ(pieces.load(), parallel_pieces(count, grain));
        EXPECT_LE(pieces.load(), scope.threads());
        std::vector<std::atomic<int>> dynamic(static_cast<std::size_t>(count));
        parallel_dynamic(count, 1e9,
                         [&](std::int64_t i) { ++dynamic[static_cast<std::size_t>(i)]; });
        for (const auto& times : dynamic) EXPECT_EQ(times.load(), 1);
      }
    }
  }
}

TEST_P(Parallel, WithoutScopeAndInsideARegionItIsSerial) {
  EXPECT_EQ(current_threads(), 1);
  const ThreadScope scope(2, GetParam());
  EXPECT_EQ(current_threads(), scope.threads());
  std::atomic<int> inner{0};
  parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
    EXPECT_EQ(current_threads(), 1);
    const ThreadScope within(2);
    EXPECT_EQ(within.threads(), 1);
    parallel_for(10, 1, [&](std::int64_t begin, std::int64_t end) {
      inner += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(inner.load(), 10 * parallel_pieces(8, 1));
  EXPECT_EQ(current_threads(), scope.threads());
}

TEST_P(Parallel, ScopesNestAndRestore) {
  const ThreadScope outer(available_threads(), GetParam());
  const int had = current_threads();
  {
    const ThreadScope inner(1);
    EXPECT_EQ(current_threads(), 1);
    const ThreadScope wider(64);
    EXPECT_EQ(wider.threads(), 1);
  }
  EXPECT_EQ(current_threads(), had);
}

TEST_P(Parallel, BudgetIsNotExceeded) {
  const int all = available_threads();
  EXPECT_GE(all, 1);
  {
    const ThreadScope scope(1000, GetParam());
    EXPECT_LE(scope.threads(), all);
  }
  std::atomic<int> busy{0};
  std::atomic<int> most{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const ThreadScope scope(2, GetParam());
        const int now = busy += scope.threads();
        int seen = most.load();
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::atomic<int> sum{0};
        parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) {
          sum += static_cast<int>(end - begin);
        });
        EXPECT_EQ(sum.load(), 100);
        busy -= scope.threads();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(most.load(), all);
}

TEST_P(Parallel, ManyRegionsInARow) {
  const ThreadScope scope(2, GetParam());
  std::vector<std::int64_t> values(1000, 0);
  for (int round = 0; round < 2000; ++round) {
    parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += i;
    });
  }
  for (std::int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], 2000 * i);
  }
}

TEST_P(Parallel, WorkersThatFellAsleepAreWoken) {
  const ThreadScope scope(2, GetParam());
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
    std::atomic<int> sum{0};
    parallel_tasks(scope.threads(), [&](int) { ++sum; });
    EXPECT_EQ(sum.load(), scope.threads());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Parallel, ::testing::Values(Workers::own, Workers::openmp),
                         [](const ::testing::TestParamInfo<Workers>& kind) {
                           return kind.param == Workers::own ? "own" : "openmp";
                         });

TEST(Memory, BuffersAreAlignedAndMovable) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{3} << 20}) {
    AlignedBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    std::memset(buffer.data(), 7, bytes);
    AlignedBuffer other = std::move(buffer);
    EXPECT_EQ(other.size(), bytes);
    EXPECT_EQ(other.data()[bytes - 1], std::byte{7});
  }
}

TEST(Memory, ScratchKeepsItsSlotsApart) {
  std::byte* first = thread_scratch(100, 0);
  std::byte* second = thread_scratch(100, 1);
  std::memset(first, 1, 100);
  std::memset(second, 2, 100);
  EXPECT_EQ(thread_scratch(50, 0), first);
  EXPECT_EQ(first[99], std::byte{1});
  thread_scratch(100000, 1);
  EXPECT_EQ(first[0], std::byte{1});
}

}  // namespace
}  // namespace concord::cpu
