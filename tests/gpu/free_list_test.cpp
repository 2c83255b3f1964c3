#include "backends/gpu/free_list.h"

#include <gtest/gtest.h>

namespace concord::gpu {
namespace {

TEST(FreeList, aligns_and_fills) {
  FreeList list(1024, 256);
  EXPECT_EQ(list.allocate(1), 0U);
  EXPECT_EQ(list.allocate(257), 256U);
  EXPECT_EQ(list.allocate(256), 768U);
  EXPECT_EQ(list.allocate(1), std::nullopt);
}

TEST(FreeList, joins_neighbours) {
  FreeList list(1024, 256);
  for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(list.allocate(256), i * 256);
  list.free(0);
  list.free(512);
  EXPECT_EQ(list.allocate(512), std::nullopt);
  list.free(256);
  EXPECT_EQ(list.largest_free(), 768U);
  EXPECT_EQ(list.allocate(768), 0U);
  list.free(0);
  list.free(768);
  EXPECT_TRUE(list.unused());
  EXPECT_EQ(list.largest_free(), 1024U);
}

TEST(FreeList, gives_empty_requests_a_place_of_their_own) {
  FreeList list(512, 256);
  EXPECT_EQ(list.allocate(0), 0U);
  EXPECT_EQ(list.allocate(0), 256U);
}

}  // namespace
}  // namespace concord::gpu
