#pragma once

#include <string>

#include <volk.h>

namespace concord::vulkan {

const char* result_name(VkResult result);

// Throws unless `result` is VK_SUCCESS. `doing`: "allocating 12 MiB of device memory".
void check(VkResult result, const std::string& doing);

}  // namespace concord::vulkan
