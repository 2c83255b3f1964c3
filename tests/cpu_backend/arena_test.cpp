#include "backends/cpu/arena.h"

#include <random>

#include <gtest/gtest.h>

namespace concord::cpu {
namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
  const bool at_once = a.first <= b.last && b.first <= a.last;
  const bool same_memory = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  return at_once && same_memory && a.bytes > 0 && b.bytes > 0;
}

TEST(Arena, PiecesThatLiveAtOnceDoNotOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> pieces;
    std::int64_t naive = 0;
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<std::int32_t>(i / 2);
      const auto last = first + static_cast<std::int32_t>(random() % 10);
      const auto bytes = static_cast<std::int64_t>(random() % 5 == 0 ? 0 : random() % 5000);
      pieces.push_back({bytes, first, last, 0});
      naive += (bytes + 63) / 64 * 64;
    }
    const std::int64_t size = assign_offsets(pieces);
    EXPECT_LE(size, naive);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].offset % 64, 0);
      EXPECT_LE(pieces[i].offset + pieces[i].bytes, size);
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(pieces[i], pieces[j]));
    }
  }
}

TEST(Arena, AChainNeedsTwoPieces) {
  std::vector<Lifetime> pieces;
  for (std::int32_t i = 0; i < 20; ++i) pieces.push_back({640, i, i + 1, 0});
  EXPECT_EQ(assign_offsets(pieces), 2 * 640);
}

TEST(OutputPool, MemoryComesBack) {
  const auto pool = std::make_shared<OutputPool>();
  const std::byte* first = nullptr;
  {
    const Tensor tensor = pool->allocate(DataType::f32, {100, 1000});
    first = tensor.data();
  }
  const Tensor again = pool->allocate(DataType::f32, {100, 1001});
  EXPECT_EQ(again.data(), first);
  const Tensor other = pool->allocate(DataType::f32, {100, 1001});
  EXPECT_NE(other.data(), first);
}

TEST(OutputPool, TensorsOutliveIt) {
  auto pool = std::make_shared<OutputPool>();
  Tensor tensor = pool->allocate(DataType::f32, {100, 1000});
  pool.reset();
  tensor.as_mutable<float>()[0] = 1;
  EXPECT_EQ(tensor.as<float>()[0], 1);
}

}  // namespace
}  // namespace concord::cpu
