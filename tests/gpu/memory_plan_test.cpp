#include "backends/gpu/memory_plan.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backends/gpu/place.h"

namespace concord::gpu {
namespace {

bool overlap(std::int64_t a, std::int64_t a_end, std::int64_t b, std::int64_t b_end) {
  return a < b_end && b < a_end;
}

TEST(MemoryPlan, never_overlaps_what_lives_together) {
  std::mt19937 engine(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lifetimes(60);
    for (Lifetime& life : lifetimes) {
      life.bytes = static_cast<std::int64_t>(engine() % 5000);
      life.first = static_cast<std::int32_t>(engine() % 40);
      life.last = life.first + static_cast<std::int32_t>(engine() % 10);
    }
    const MemoryLayout layout = lay_out(lifetimes);
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      ASSERT_EQ(layout.offsets[i] % kArenaAlignment, 0);
      ASSERT_LE(layout.offsets[i] + lifetimes[i].bytes, layout.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        if (lifetimes[i].last < lifetimes[j].first || lifetimes[j].last < lifetimes[i].first) {
          continue;
        }
        ASSERT_FALSE(overlap(layout.offsets[i], layout.offsets[i] + lifetimes[i].bytes,
                             layout.offsets[j], layout.offsets[j] + lifetimes[j].bytes))
            << i << " and " << j;
      }
    }
    EXPECT_LE(layout.bytes, lay_out_apart(lifetimes).bytes);
  }
}

TEST(MemoryPlan, reuses_memory_in_a_chain) {
  std::vector<Lifetime> chain;
  for (std::int32_t i = 0; i < 100; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(lay_out(chain).bytes, 2048);
}

TEST(Hazards, need_a_barrier_where_data_depends) {
  HazardTracker tracker;
  const std::vector<Access> write_a{{0, 256, true}};
  const std::vector<Access> write_b{{256, 512, true}};
  const std::vector<Access> read_a_write_c{{0, 256, false}, {512, 768, true}};
  const std::vector<Access> read_a_write_d{{0, 256, false}, {768, 1024, true}};
  EXPECT_FALSE(tracker.add(write_a));
  EXPECT_FALSE(tracker.add(write_b));
  EXPECT_TRUE(tracker.add(read_a_write_c)) << "read after write";
  EXPECT_FALSE(tracker.add(read_a_write_d)) << "two readers";
  EXPECT_TRUE(tracker.add(write_a)) << "write after read";
  EXPECT_TRUE(tracker.add(write_a)) << "write after write";
  EXPECT_FALSE(tracker.add(write_b));
}

TEST(Place, survives_encoding) {
  for (const Place place : {Place{0, 0, false, false}, Place{123456, (1LL << 39) - 4, true, true},
                            Place{7, 256, true, false}, Place{7, 256, false, true}}) {
    const Place back = decode(encode(place));
    EXPECT_EQ(back.buffer, place.buffer);
    EXPECT_EQ(back.offset, place.offset);
    EXPECT_EQ(back.written, place.written);
    EXPECT_EQ(back.read, place.read);
  }
  EXPECT_EQ(decode(DevicePtr{}).buffer, -1);
}

}  // namespace
}  // namespace concord::gpu
