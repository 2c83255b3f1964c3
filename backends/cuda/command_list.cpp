#include "backends/cuda/command_list.h"

#include <utility>

namespace concord::cuda {

CudaCommandList::CudaCommandList(std::shared_ptr<const Launcher> launcher,
                                 std::span<const gpu::Command> commands, Replay replay)
    : launcher_(std::move(launcher)), context_(launcher_->context()) {
  context_->enter();
  done_ = context_->make_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  if (replay == Replay::kGraph) {
    graph_.emplace(launcher_, commands);
    return;
  }
  commands_.assign(commands.begin(), commands.end());
  for (const gpu::Command& command : commands_) {
    if (const auto* dispatch = std::get_if<gpu::DispatchCommand>(&command)) {
      launcher_->prepare(*dispatch->kernel);
    }
  }
  if (replay != Replay::kTimed) return;
  for (std::size_t i = 0; i <= commands_.size(); ++i) {
    stamps_.push_back(context_->make_event(CU_EVENT_DEFAULT));
  }
}

CudaCommandList::~CudaCommandList() {
  const Driver& driver = context_->driver();
  Driver::call(driver.cuCtxSetCurrent, context_->handle());
  if (running_) Driver::call(driver.cuEventSynchronize, done_.get());
}

void CudaCommandList::submit() {
  context_->enter();
  const CUstream stream = context_->stream();
  if (graph_.has_value()) {
    graph_->launch(stream);
  } else if (!stamps_.empty()) {
    submit_timed();
  } else {
    for (const gpu::Command& command : commands_) launcher_->enqueue(command, stream);
  }
  context_->check(Driver::call(context_->driver().cuEventRecord, done_.get(), stream),
                  "recording an event");
  running_ = true;
}

void CudaCommandList::submit_timed() {
  const CUstream stream = context_->stream();
  const auto stamp = [&](std::size_t i) {
    context_->check(Driver::call(context_->driver().cuEventRecord, stamps_[i].get(), stream),
                    "recording an event");
  };
  stamp(0);
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    launcher_->enqueue(commands_[i], stream);
    stamp(i + 1);
  }
}

void CudaCommandList::wait() {
  if (!running_) return;
  context_->enter();
  context_->check(Driver::call(context_->driver().cuEventSynchronize, done_.get()),
                  "waiting for the device");
  running_ = false;
}

std::vector<double> CudaCommandList::times() const {
  std::vector<double> times;
  if (stamps_.empty()) return times;
  context_->enter();
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    float milliseconds = 0;
    context_->check(Driver::call(context_->driver().elapsed_time, &milliseconds, stamps_[i].get(),
                                 stamps_[i + 1].get()),
                    "reading an event's time");
    times.push_back(Launcher::is_empty(commands_[i]) ? 0.0 : milliseconds * 1e6);
  }
  return times;
}

bool CudaCommandList::update(std::span<const gpu::Command> commands) {
  if (!graph_.has_value() || running_) return false;
  return graph_->update(commands);
}

}  // namespace concord::cuda
