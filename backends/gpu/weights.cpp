#include "backends/gpu/weights.h"

#include <vector>

namespace concord::gpu {

const Memory& Weights::get(graph::ValueId id, const std::string& arrangement, std::size_t bytes,
                           const Pack& pack) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Memory>& known = memory_[{id, arrangement}];
  if (known != nullptr) return *known;
  std::unique_ptr<Memory> memory = device_->allocate(bytes, MemoryKind::kDevice);
  const Tensor& tensor = graph_->value(id).constant.value();
  if (std::byte* host = memory->host()) {
    pack(tensor, {host, bytes});
  } else {
    std::vector<std::byte> packed(bytes);
    pack(tensor, packed);
    device_->upload({memory.get(), 0, bytes}, packed);
  }
  tensor.release_pages();
  bytes_ += bytes;
  known = std::move(memory);
  return *known;
}

std::size_t Weights::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace concord::gpu
