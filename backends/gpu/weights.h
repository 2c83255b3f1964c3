#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "backends/gpu/device.h"
#include "graph/graph.h"

namespace concord::gpu {

// The constants of one graph on the device: each is converted, arranged and uploaded when the first
// plan asks for it, and shared by all plans. Safe from many threads.
class Weights {
 public:
  // Writes a constant into device memory's form.
  using Pack = std::function<void(const Tensor&, std::span<std::byte>)>;

  Weights(std::shared_ptr<Device> device, std::shared_ptr<const graph::Graph> graph)
      : device_(std::move(device)), graph_(std::move(graph)) {}

  // The constant `id` as `arrangement`: `bytes` long, filled by `pack` the first time.
  const Memory& get(graph::ValueId id, const std::string& arrangement, std::size_t bytes,
                    const Pack& pack);

  std::size_t bytes() const;

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<const graph::Graph> graph_;
  mutable std::mutex mutex_;
  std::map<std::pair<graph::ValueId, std::string>, std::unique_ptr<Memory>> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace concord::gpu
