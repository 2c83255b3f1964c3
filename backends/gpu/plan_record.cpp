// Turning a plan's commands into a device's: addresses filled in, barriers where hazards are.

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/gpu/plan.h"

namespace concord::gpu {
namespace {

// Fills in addresses and notes what is accessed.
class Resolver {
 public:
  Resolver(const PlanDraft& draft, const MemoryLayout& layout, const Arena& arena)
      : draft_(draft), layout_(layout), arena_(arena) {}

  Command operator()(const DispatchCommand& planned) {
    DispatchCommand command = planned;
    for (const KernelParam& param : command.kernel->params) {
      if (param.type != ParamType::kPointer) continue;
      DevicePtr pointer;
      std::memcpy(&pointer, command.params.data() + param.offset, sizeof pointer);
      resolve(pointer);
      std::memcpy(command.params.data() + param.offset, &pointer, sizeof pointer);
    }
    return command;
  }
  Command operator()(const LibraryMatmulCommand& planned) {
    LibraryMatmulCommand command = planned;
    for (DevicePtr* pointer :
         {&command.a, &command.b, &command.y, &command.bias, &command.residual}) {
      resolve(*pointer);
    }
    return command;
  }
  Command operator()(const PlannedCopy& planned) {
    note(planned.from, planned.bytes);
    note(planned.to, planned.bytes);
    return CopyCommand{range(planned.from, planned.bytes), range(planned.to, planned.bytes)};
  }
  Command operator()(const PlannedFill& planned) {
    note(planned.to, planned.bytes);
    return FillCommand{range(planned.to, planned.bytes), planned.value};
  }

  std::vector<Access> accesses;

 private:
  // A place becomes an address; what it leads to is accessed wholly.
  void resolve(DevicePtr& pointer) {
    const Place place = decode(pointer);
    if (place.buffer < 0) return;
    const PlanBuffer& buffer = draft_.buffers[static_cast<std::size_t>(place.buffer)];
    const MemoryRange where = range(place, buffer.bytes - place.offset);
    note({place.buffer, 0, place.written, place.read}, buffer.bytes);
    pointer.address = where.memory->address().address + where.offset;
  }

  MemoryRange range(const Place& place, std::int64_t bytes) const {
    const PlanBuffer& buffer = draft_.buffers[static_cast<std::size_t>(place.buffer)];
    const auto size = static_cast<std::size_t>(bytes);
    if (buffer.fixed != nullptr) {
      return {buffer.fixed, static_cast<std::size_t>(place.offset), size};
    }
    const std::int64_t base = layout_.offsets[static_cast<std::size_t>(place.buffer)];
    return {arena_.memory.get(), static_cast<std::size_t>(base + place.offset), size};
  }

  void note(const Place& place, std::int64_t bytes) {
    const PlanBuffer& buffer = draft_.buffers[static_cast<std::size_t>(place.buffer)];
    if (buffer.fixed != nullptr) return;
    const std::int64_t begin =
        layout_.offsets[static_cast<std::size_t>(place.buffer)] + place.offset;
    accesses.push_back({begin, begin + bytes, place.written});
  }

  const PlanDraft& draft_;
  const MemoryLayout& layout_;
  const Arena& arena_;
};

}  // namespace

std::vector<Command> GpuPlan::resolve(const Arena& arena, bool apart,
                                      std::vector<std::int32_t>& steps) const {
  std::vector<Command> commands;
  const auto push = [&](Command command, std::int32_t step) {
    commands.push_back(std::move(command));
    steps.push_back(step);
  };
  const bool staged = arena.memory->host() == nullptr;
  if (staged) {
    for (const Port& port : inputs_) {
      const MemoryRange to = range(port.operand, arena, apart);
      push(CopyCommand{{arena.upload.get(), static_cast<std::size_t>(port.staging), to.bytes}, to},
           -1);
    }
    push(BarrierCommand{}, -1);
  }
  if (faults_.operand.defined()) {
    push(FillCommand{range(faults_.operand, arena, apart), 0}, -1);
    push(BarrierCommand{}, -1);
  }
  HazardTracker hazards;
  Resolver resolver(draft_, layout(apart), arena);
  for (const PlannedCommand& planned : draft_.commands) {
    resolver.accesses.clear();
    Command command = std::visit(resolver, planned.command);
    if (hazards.add(resolver.accesses)) push(BarrierCommand{}, -1);
    push(std::move(command), planned.step);
  }
  if (staged) {
    push(BarrierCommand{}, -1);
    std::vector<Port> ports = outputs_;
    ports.push_back(faults_);
    for (const Port& port : ports) {
      if (!port.operand.defined()) continue;
      const MemoryRange from = range(port.operand, arena, apart);
      push(CopyCommand{from,
                       {arena.download.get(), static_cast<std::size_t>(port.staging), from.bytes}},
           -1);
    }
  }
  return commands;
}

std::unique_ptr<CommandList> SpareLists::take() {
  const std::scoped_lock lock(mutex_);
  if (lists_.empty()) return nullptr;
  std::unique_ptr<CommandList> list = std::move(lists_.back());
  lists_.pop_back();
  return list;
}

void SpareLists::put(std::unique_ptr<CommandList> list) {
  const std::scoped_lock lock(mutex_);
  if (lists_.size() < kMost) lists_.push_back(std::move(list));
}

GpuPlan::Recorded::~Recorded() {
  if (list != nullptr && !timed && state != nullptr) state->spares.put(std::move(list));
}

std::shared_ptr<const GpuPlan::Recorded> GpuPlan::list(const Recording& recording,
                                                       const Arena& arena) const {
  const std::scoped_lock lock(mutex_);
  const auto known = recorded_.find(recording);
  if (known != recorded_.end() && state_->options.replay) return known->second;
  // An arena that grew has a new id, and what was recorded for the old one is of no more use.
  constexpr std::size_t kMaxRecordings = 8;
  if (recorded_.size() >= kMaxRecordings) recorded_.clear();
  auto made = std::make_shared<Recorded>();
  made->timed = recording.timed;
  const std::vector<Command> commands = resolve(arena, recording.apart, made->steps);
  std::unique_ptr<CommandList> spare = recording.timed ? nullptr : state_->spares.take();
  made->list = spare == nullptr
                   ? state_->device->record(commands, recording.timed)
                   : state_->device->record_again(std::move(spare), commands, recording.timed);
  made->state = state_;
  recorded_[recording] = made;
  return made;
}

}  // namespace concord::gpu
