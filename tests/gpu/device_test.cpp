#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/probe.h"
#include "graph/error.h"
#include "tests/gpu/device_fixture.h"

namespace concord::gpu {
namespace {

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(Device, meets_the_floor) {
  const DeviceProperties& p = test_device().properties();
  EXPECT_FALSE(p.name.empty());
  EXPECT_GE(p.subgroup_size, 4U);
  EXPECT_GE(p.shared_bytes, 32768U);
  EXPECT_GE(p.max_param_bytes, 128U);
  EXPECT_GT(p.memory_bytes, 0U);
}

TEST(Device, runs_a_kernel) {
  const std::vector<float> values = counting(1000);
  const auto x = to_device(values);
  const auto y = on_device<float>(1000);
  run_kernel(kernels::probe_copy_f32, {1, 1, 1}, {x->address(), y->address(), 250});
  EXPECT_EQ(from_device<float>(*y, 1000), values);
}

TEST(Device, addresses_parts_of_memory) {
  const std::vector<float> values = counting(64);
  const auto x = to_device(values);
  const auto y = on_device<float>(64);
  const Command commands[] = {
      FillCommand{{y.get(), 0, 256}, 0},
      BarrierCommand{},
      dispatch(kernels::probe_copy_f32, {1, 1, 1},
               {{x->address().address + 64}, {y->address().address + 128}, 4}),
  };
  run_commands(commands);
  const std::vector<float> result = from_device<float>(*y, 64);
  EXPECT_EQ(std::count(result.begin(), result.begin() + 32, 0.0F), 32);
  EXPECT_TRUE(std::equal(result.begin() + 32, result.begin() + 48, values.begin() + 16));
  EXPECT_EQ(std::count(result.begin() + 48, result.end(), 0.0F), 16);
}

TEST(Device, copies_and_replays) {
  const auto x = to_device(counting(1024));
  const auto y = on_device<float>(1024);
  const auto z = on_device<float>(1024);
  const Command commands[] = {
      CopyCommand{{x.get(), 0, 4096}, {y.get(), 0, 4096}},
      BarrierCommand{},
      dispatch(kernels::probe_copy_f32, {1, 1, 1}, {y->address(), z->address(), 256}),
  };
  const auto list = test_device().record(commands, true);
  for (float start : {5.0F, 7.0F}) {
    std::vector<float> values(1024, start);
    test_device().upload({x.get(), 0, 4096}, std::as_bytes(std::span(values)));
    list->submit();
    list->wait();
    EXPECT_EQ(from_device<float>(*z, 1024), values);
  }
  const std::vector<double> times = list->times();
  if (!test_device().properties().timestamps) GTEST_SKIP() << "no timestamps here";
  ASSERT_EQ(times.size(), 3U);
  EXPECT_GT(times[2], 0);
}

TEST(Device, refuses_foreign_parameters) {
  const Command command = DispatchCommand{&kernels::probe_empty.kernel, {1, 1, 1}, {}};
  EXPECT_THROW(test_device().record({&command, 1}, false), Error);
}

TEST(Device, reuses_freed_memory) {
  const auto first = on_device<float>(100);
  const std::uint64_t address = first->address().address;
  auto second = on_device<float>(100);
  EXPECT_NE(second->address().address, address);
  const std::uint64_t freed = second->address().address;
  second.reset();
  EXPECT_EQ(on_device<float>(50)->address().address, freed);
}

TEST(Device, turns_validation_messages_into_errors) {
  test_device();  // asks for validation unless told not to
  const char* validation = std::getenv("CONCORD_VULKAN_VALIDATION");
  if (validation == nullptr || std::string(validation) == "0")
    GTEST_SKIP() << "CONCORD_VULKAN_VALIDATION is not set";
  const auto x = on_device<float>(64);
  const Command command = CopyCommand{{x.get(), 0, 128}, {x.get(), 64, 128}};  // overlaps
  EXPECT_THROW(test_device().record({&command, 1}, false), Error);
}

TEST(Kernels, are_found_by_name) {
  EXPECT_EQ(find_kernel("probe_empty"), &kernels::probe_empty.kernel);
  EXPECT_EQ(find_kernel("probe_emptyx"), nullptr);
  EXPECT_EQ(find_kernel_of<kernels::ProbeCopyParams>("probe_empty"), nullptr);
  EXPECT_NE(find_kernel_of<kernels::ProbeCopyParams>("probe_copy_f32"), nullptr);
}

}  // namespace
}  // namespace concord::gpu
