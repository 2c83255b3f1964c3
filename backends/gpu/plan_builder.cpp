#include "backends/gpu/plan_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace concord::gpu {

std::int32_t PlanDraft::add_buffer(std::int64_t bytes) {
  buffers.push_back({bytes, nullptr, -1, -1});
  return static_cast<std::int32_t>(buffers.size()) - 1;
}

std::int32_t PlanDraft::add_fixed(const Memory& memory) {
  buffers.push_back({static_cast<std::int64_t>(memory.size()), &memory, -1, -1});
  return static_cast<std::int32_t>(buffers.size()) - 1;
}

void PlanDraft::touch(std::int32_t buffer, std::int32_t at) {
  if (buffer < 0) return;
  PlanBuffer& info = buffers[static_cast<std::size_t>(buffer)];
  if (info.first < 0 || at < info.first) info.first = std::max(at, 0);
  info.last = std::max(info.last, at);
}

void PlanDraft::add(Planned command) {
  const auto at = static_cast<std::int32_t>(commands.size());
  if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
    for (const KernelParam& param : dispatch->kernel->params) {
      if (param.type != ParamType::kPointer) continue;
      DevicePtr pointer;
      std::memcpy(&pointer, dispatch->params.data() + param.offset, sizeof pointer);
      touch(decode(pointer).buffer, at);
    }
  } else if (const auto* copy = std::get_if<PlannedCopy>(&command)) {
    touch(copy->from.buffer, at);
    touch(copy->to.buffer, at);
  } else if (const auto* matmul = std::get_if<LibraryMatmulCommand>(&command)) {
    for (const DevicePtr pointer :
         {matmul->a, matmul->b, matmul->y, matmul->bias, matmul->residual}) {
      touch(decode(pointer).buffer, at);
    }
  } else {
    touch(std::get<PlannedFill>(command).to.buffer, at);
  }
  commands.push_back({std::move(command), static_cast<std::int32_t>(steps.size()) - 1});
}

}  // namespace concord::gpu
