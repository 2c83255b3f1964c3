#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/vulkan/physical_device.h"
#include "graph/error.h"

namespace concord::vulkan {
namespace {

PhysicalDevice device(std::uint32_t index, const std::string& name, const std::string& driver,
                      gpu::DeviceType type, const std::string& unfit = {}) {
  PhysicalDevice made;
  made.index = index;
  made.unfit = unfit;
  made.properties.name = name;
  made.properties.driver = driver;
  made.properties.type = type;
  made.properties.is_cpu_driver = type == gpu::DeviceType::kCpu;
  return made;
}

std::vector<PhysicalDevice> several() {
  return {device(0, "llvmpipe (LLVM 15)", "llvmpipe", gpu::DeviceType::kCpu),
          device(1, "Old Card", "old driver", gpu::DeviceType::kDiscrete, "it is too old"),
          device(2, "GeForce 4090", "NVIDIA", gpu::DeviceType::kDiscrete),
          device(3, "GeForce 3050", "NVIDIA", gpu::DeviceType::kDiscrete),
          device(4, "SwiftShader Device", "SwiftShader driver", gpu::DeviceType::kCpu)};
}

std::uint32_t selected(const std::string& wanted) {
  return select_device(several(), wanted).index;
}

std::string refused(const std::vector<PhysicalDevice>& devices, const std::string& wanted) {
  try {
    select_device(devices, wanted);
  } catch (const Error& error) {
    return error.what() + std::string(" | ") + error.hint();
  }
  return {};
}

TEST(SelectDevice, prefers_a_gpu_that_is_fit) {
  EXPECT_EQ(selected(""), 2U);
}

TEST(SelectDevice, takes_a_cpu_driver_where_there_is_nothing_else) {
  const std::vector<PhysicalDevice> all = several();
  const std::vector<PhysicalDevice> two{all[1], all[4]};
  EXPECT_EQ(select_device(two, "").index, 4U);
}

TEST(SelectDevice, goes_by_index) {
  EXPECT_EQ(selected("0"), 0U);
  EXPECT_EQ(selected("3"), 3U);
}

TEST(SelectDevice, goes_by_a_piece_of_a_name_in_any_case) {
  EXPECT_EQ(selected("4090"), 2U);
  EXPECT_EQ(selected("SWIFTSHADER"), 4U);
  EXPECT_EQ(selected("llvm"), 0U);
}

TEST(SelectDevice, says_what_is_there) {
  for (const std::string& text : {refused(several(), "radeon"), refused(several(), "7"),
                                  refused(several(), "nvidia"), refused(several(), "old card")}) {
    EXPECT_NE(text.find("GeForce 4090"), std::string::npos) << text;
    EXPECT_NE(text.find("it is too old"), std::string::npos) << text;
  }
  EXPECT_NE(refused(several(), "nvidia").find("several"), std::string::npos);
  EXPECT_NE(refused({}, "").find("no Vulkan driver"), std::string::npos);
  EXPECT_NE(refused({several()[1]}, "").find("it is too old"), std::string::npos);
}

}  // namespace
}  // namespace concord::vulkan
