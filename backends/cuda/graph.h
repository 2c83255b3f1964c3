#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/launcher.h"

namespace concord::cuda {

// Commands as a CUDA graph: a node for each, which depends on the nodes before the last barrier, so
// that what stands between two barriers may run at the same time.
class Graph {
 public:
  // The memory that commands name must live as long.
  Graph(std::shared_ptr<const Launcher> launcher, std::span<const gpu::Command> commands);

  // Makes the graph one of `commands` where these are the same kernels and copies in the same
  // order with the same barriers, and only grids, parameters, addresses and sizes differ. False
  // where they are others; the graph is then of no more use. No run may be in progress.
  bool update(std::span<const gpu::Command> commands);

  void launch(CUstream stream) const;

 private:
  // What a node was made of: addresses, since the memory that an old command names may be gone.
  struct Made {
    std::size_t kind = 0;  // of gpu::Command
    bool empty = false;
    const gpu::Kernel* kernel = nullptr;
    bool from_host = false;
    bool to_host = false;
    std::array<std::uint32_t, 3> groups{};
    std::vector<std::byte> params;
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    std::size_t bytes = 0;
    std::uint32_t value = 0;
    gpu::LibraryMatmulCommand matmul;
    bool is_like(const Made& other) const;
    friend bool operator==(const Made&, const Made&) = default;
  };

  static Made made_of(const gpu::Command& command);
  CUgraphNode add(const gpu::Command& command, std::span<const CUgraphNode> after);
  CUgraphNode add_empty(std::span<const CUgraphNode> after);
  // False where the node cannot be made one of the command.
  bool set(CUgraphNode node, const gpu::Command& command);
  Handle<CUgraph> capture(const gpu::LibraryMatmulCommand& command) const;

  std::shared_ptr<const Launcher> launcher_;
  std::vector<Made> made_;          // one per command
  std::vector<CUgraphNode> nodes_;  // one per command; null for none
  Handle<CUgraph> graph_;
  Handle<CUgraphExec> exec_;
};

}  // namespace concord::cuda
