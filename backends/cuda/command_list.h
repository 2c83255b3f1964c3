#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cuda/graph.h"
#include "backends/cuda/launcher.h"

namespace concord::cuda {

// How a list is carried out.
enum class Replay : std::uint8_t {
  kGraph,   // one call starts a graph
  kDirect,  // a call for each command
  kTimed,   // likewise, with an event after each
};

class CudaCommandList : public gpu::CommandList {
 public:
  CudaCommandList(std::shared_ptr<const Launcher> launcher, std::span<const gpu::Command> commands,
                  Replay replay);
  ~CudaCommandList() override;

  void submit() override;
  void wait() override;
  std::vector<double> times() const override;

  // As Graph::update; false for a list without graph.
  bool update(std::span<const gpu::Command> commands);

 private:
  void submit_timed();

  std::shared_ptr<const Launcher> launcher_;
  std::shared_ptr<Context> context_;
  std::vector<gpu::Command> commands_;  // empty with a graph
  std::optional<Graph> graph_;
  Handle<CUevent> done_;
  std::vector<Handle<CUevent>> stamps_;  // before the first command and after each
  bool running_ = false;
};

}  // namespace concord::cuda
