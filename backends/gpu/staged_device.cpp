#include "backends/gpu/staged_device.h"

#include <algorithm>
#include <cstring>

namespace concord::gpu {
namespace {

constexpr std::size_t kStagingBytes = std::size_t{16} << 20;

}  // namespace

void StagedDevice::upload(const MemoryRange& range, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (std::byte* host = range.memory->host()) {
    std::memcpy(host + range.offset, bytes.data(), bytes.size());
    return;
  }
  const auto staging = allocate(std::min(bytes.size(), kStagingBytes), MemoryKind::kUpload);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t part = std::min(bytes.size() - done, staging->size());
    std::memcpy(staging->host(), bytes.data() + done, part);
    copy({staging.get(), 0, part}, {range.memory, range.offset + done, part});
    done += part;
  }
}

void StagedDevice::download(const MemoryRange& range, std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  if (const std::byte* host = range.memory->host()) {
    std::memcpy(bytes.data(), host + range.offset, bytes.size());
    return;
  }
  const auto staging = allocate(std::min(bytes.size(), kStagingBytes), MemoryKind::kDownload);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t part = std::min(bytes.size() - done, staging->size());
    copy({range.memory, range.offset + done, part}, {staging.get(), 0, part});
    std::memcpy(bytes.data() + done, staging->host(), part);
    done += part;
  }
}

}  // namespace concord::gpu
