#pragma once

// A plan under construction: buffers whose places aren't known yet, and commands on them.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backends/backend.h"
#include "backends/gpu/device.h"
#include "backends/gpu/place.h"
#include "graph/graph.h"

namespace concord::gpu {

// A dense row-major tensor in a buffer of the plan.
struct Operand {
  std::int32_t buffer = -1;
  std::int64_t offset = 0;               // bytes
  DataType dtype = DataType::undefined;  // as stored (convert.h)
  Shape shape;

  bool defined() const { return buffer >= 0; }
  std::int64_t count() const { return element_count(shape); }
  std::int64_t bytes() const { return storage_bytes(dtype, count()); }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
};

struct PlanBuffer {
  std::int64_t bytes = 0;
  const Memory* fixed = nullptr;  // weights and the plan's constants; null: in the arena
  std::int32_t first = -1;        // commands between which it holds data
  std::int32_t last = -1;
};

struct PlannedCopy {
  Place from;
  Place to;
  std::int64_t bytes = 0;
};

struct PlannedFill {
  Place to;
  std::int64_t bytes = 0;  // a multiple of 4
  std::uint32_t value = 0;
};

// Pointers encode places.
using Planned = std::variant<DispatchCommand, PlannedCopy, PlannedFill, LibraryMatmulCommand>;

struct PlannedCommand {
  Planned command;
  std::int32_t step = 0;
};

struct PlanDraft {
  std::vector<PlanBuffer> buffers;
  std::vector<PlannedCommand> commands;
  std::vector<StepInfo> steps;
  std::vector<std::unique_ptr<Memory>> constants;  // that belong to this plan alone
  std::vector<Operand> values;                     // by ValueId; undefined where not computed
  // Words that kernels set when an index is out of range, one per step that checks.
  std::int32_t fault_buffer = -1;
  std::vector<std::int32_t> fault_steps;

  std::int32_t add_buffer(std::int64_t bytes);
  std::int32_t add_fixed(const Memory& memory);
  void add(Planned command);
  // Marks the buffer as in use at command `at`; −1 is before the first.
  void touch(std::int32_t buffer, std::int32_t at);
};

}  // namespace concord::gpu
