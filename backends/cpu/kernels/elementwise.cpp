#include "backends/cpu/kernels/elementwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/elementwise_ops.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/kernels/quantise.h"

namespace concord::cpu {
namespace {

constexpr std::int64_t kTileBytes = 24 << 10;  // all registers together, within a 32 KiB L1
constexpr int kMaxLanes = 16;

// The iteration space after merging axes: rows of `inner` elements, addressed by an odometer.
struct Space {
  int rank = 0;  // outer axes
  std::array<std::int64_t, ElementProgram::max_rank> extent{};
  std::array<std::array<std::int64_t, ElementProgram::max_rank>, ElementProgram::max_operands>
      stride;  // [input][outer axis]
  std::array<std::int64_t, ElementProgram::max_operands> inner_stride{};
  std::int64_t inner = 1;
  std::int64_t rows = 1;
  // Per input: whether it lies contiguously over the whole space; whether every row reads the same.
  std::array<bool, ElementProgram::max_operands> flat{}, repeats{};
};

Space collapse(std::span<const std::int64_t> shape, std::span<const ElementProgram::Input> inputs) {
  struct Axis {
    std::int64_t extent;
    std::array<std::int64_t, ElementProgram::max_operands> stride;
  };
  std::array<Axis, ElementProgram::max_rank> axes;
  int rank = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    Axis next{shape[axis], {}};
    for (std::size_t i = 0; i < inputs.size(); ++i) next.stride[i] = inputs[i].stride[axis];
    if (rank > 0) {
      Axis& last = axes[static_cast<std::size_t>(rank - 1)];
      bool mergeable = true;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        mergeable = mergeable && last.stride[i] == next.stride[i] * next.extent;
      }
      if (mergeable) {
        last.extent *= next.extent;
        last.stride = next.stride;
        continue;
      }
    }
    axes[static_cast<std::size_t>(rank++)] = next;
  }
  Space space;
  if (rank == 0) {
    for (std::size_t i = 0; i < inputs.size(); ++i) space.flat[i] = true;
    return space;
  }
  const Axis& last = axes[static_cast<std::size_t>(rank - 1)];
  space.inner = last.extent;
  for (std::size_t i = 0; i < inputs.size(); ++i) space.inner_stride[i] = last.stride[i];
  space.rank = rank - 1;
  for (int axis = 0; axis < space.rank; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    space.extent[a] = axes[a].extent;
    space.rows *= axes[a].extent;
    for (std::size_t i = 0; i < inputs.size(); ++i) space.stride[i][a] = axes[a].stride[i];
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    space.flat[i] = space.inner_stride[i] == 1;
    space.repeats[i] = true;
    std::int64_t dense = space.inner;
    for (int axis = space.rank - 1; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      space.flat[i] = space.flat[i] && space.stride[i][a] == dense;
      space.repeats[i] = space.repeats[i] && space.stride[i][a] == 0;
      dense *= space.extent[a];
    }
  }
  return space;
}

// Calls f(row offset of input i) for an input at a row number.
std::int64_t row_offset(const Space& space, std::size_t input, std::int64_t row) {
  std::int64_t offset = 0;
  for (int axis = space.rank - 1; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    offset += row % space.extent[a] * space.stride[input][a];
    row /= space.extent[a];
  }
  return offset;
}

void call_loop(ElementLoop loop, int lanes, std::int64_t n, const float* a, const float* b,
               const float* c, float* out, float p0, float p1) {
  const std::int64_t whole = n / lanes * lanes;
  if (whole > 0) loop(whole, a, b, c, out, p0, p1);
  const std::int64_t rest = n - whole;
  if (rest == 0) return;
  alignas(64) float buffer[4][kMaxLanes];
  const auto bytes = static_cast<std::size_t>(rest) * sizeof(float);
  for (auto& lane : buffer) std::fill(lane, lane + kMaxLanes, 1.0f);
  std::memcpy(buffer[0], a + whole, bytes);
  std::memcpy(buffer[1], b + whole, bytes);
  std::memcpy(buffer[2], c + whole, bytes);
  loop(lanes, buffer[0], buffer[1], buffer[2], buffer[3], p0, p1);
  std::memcpy(out + whole, buffer[3], bytes);
}

bool is_plain_float(Element type) {
  return type == Element::f32;
}

void store_results(Element type, const std::optional<ElementProgram::Quantisation>& quantisation,
                   const float* x, void* out, std::int64_t n) {
  if (quantisation && element_size(type) == 1 && type != Element::boolean) {
    quantise_serial(x, n, quantisation->scale, quantisation->zero, type == Element::i8,
                    static_cast<std::byte*>(out));
  } else if (type == Element::boolean) {
    auto* bytes = static_cast<std::uint8_t*>(out);
    for (std::int64_t i = 0; i < n; ++i) bytes[i] = x[i] != 0 ? 1 : 0;
  } else {
    convert_serial(Element::f32, x, type, out, n);
  }
}

}  // namespace

struct ElementAccess {
  const ElementProgram& program;
  const Space& space;
  std::span<const ElementProgram::Input> inputs;
  std::span<void* const> outputs;
  std::int64_t tile;
  int lanes;
  std::array<ElementLoop, ElementProgram::max_operands> loops{};
  // Where an input that every tile reads alike is kept, or −1. Tiles begin at rows then.
  std::array<int, ElementProgram::max_operands> kept{};
  int kept_count = 0;

  std::size_t input_count() const { return inputs.size(); }

  // One input's elements for the flat range [begin, begin + n): where they lie, or a copy of them.
  const float* fetch(std::size_t i, std::int64_t begin, std::int64_t n, float* slot) const {
    const Element type = program.input_types_[i];
    const auto* base = static_cast<const std::byte*>(inputs[i].data);
    const std::int64_t stride = space.inner_stride[i];
    const std::int64_t size = static_cast<std::int64_t>(element_size(type));
    if (space.flat[i]) {
      const auto* first = base + begin * size;
      if (is_plain_float(type)) return reinterpret_cast<const float*>(first);
      load_floats(type, first, 1, slot, n);
      return slot;
    }
    std::int64_t row = begin / space.inner;
    std::int64_t column = begin % space.inner;
    if (column + n <= space.inner) {
      const auto* first = base + (row_offset(space, i, row) + column * stride) * size;
      if (is_plain_float(type) && stride == 1) return reinterpret_cast<const float*>(first);
      load_floats(type, first, stride, slot, n);
      return slot;
    }
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t part = std::min(n - done, space.inner - column);
      load_floats(type, base + (row_offset(space, i, row) + column * stride) * size, stride,
                  slot + done, part);
      done += part;
      column = 0;
      ++row;
    }
    return slot;
  }

  void run_range(std::int64_t begin, std::int64_t end) const {
    auto* registers = reinterpret_cast<float*>(thread_scratch(
        static_cast<std::size_t>((program.slots_ + kept_count) * tile) * sizeof(float), 0));
    const auto slot = [&](std::size_t operand) {
      return registers + program.slot_[operand] * tile;
    };
    const std::size_t first_step = input_count();
    const bool direct =
        program.outputs_.size() == 1 && is_plain_float(program.output_types_[0]) &&
        !program.steps_.empty() &&
        static_cast<std::size_t>(program.outputs_[0]) == first_step + program.steps_.size() - 1;
    std::array<const float*, ElementProgram::max_operands> value{};
    for (std::int64_t at = begin; at < end; at += tile) {
      const std::int64_t n = std::min(tile, end - at);
      for (std::size_t i = 0; i < first_step; ++i) {
        if (kept[i] < 0) {
          value[i] = fetch(i, at, n, slot(i));
        } else if (at == begin) {
          value[i] = fetch(i, at, n, registers + (program.slots_ + kept[i]) * tile);
        }
      }
      for (std::size_t j = 0; j < program.steps_.size(); ++j) {
        const ElementStep& step = program.steps_[j];
        float* out = slot(first_step + j);
        if (direct && j + 1 == program.steps_.size()) {
          out = static_cast<float*>(outputs[0]) + at;
        }
        call_loop(loops[j], lanes, n, value[step.a], value[step.b], value[step.c], out, step.p0,
                  step.p1);
        value[first_step + j] = out;
      }
      if (direct) continue;
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        const Element type = program.output_types_[o];
        auto* out = static_cast<std::byte*>(outputs[o]) +
                    at * static_cast<std::int64_t>(element_size(type));
        const float* result = value[static_cast<std::size_t>(program.outputs_[o])];
        if (is_plain_float(type)) {
          std::memmove(out, result, static_cast<std::size_t>(n) * sizeof(float));
        } else {
          store_results(type, program.quantisation_, result, out, n);
        }
      }
    }
  }
};

ElementProgram::ElementProgram(std::vector<Element> inputs, std::vector<ElementStep> steps,
                               std::vector<int> outputs, std::vector<Element> output_types,
                               std::optional<Quantisation> quantisation)
    : input_types_(std::move(inputs)),
      output_types_(std::move(output_types)),
      steps_(std::move(steps)),
      outputs_(std::move(outputs)),
      quantisation_(quantisation) {
  const std::size_t operands = input_types_.size() + steps_.size();
  if (operands == 0 || operands > max_operands) {
    throw std::invalid_argument("an elementwise program has 1 to 64 operands");
  }
  if (outputs_.empty() || outputs_.size() > max_outputs ||
      outputs_.size() != output_types_.size()) {
    throw std::invalid_argument("an elementwise program has 1 to 4 outputs, each with a type");
  }
  for (std::size_t j = 0; j < steps_.size(); ++j) {
    ElementStep& step = steps_[j];
    const int count = operand_count(step.op);
    if (count < 2) step.b = step.a;
    if (count < 3) step.c = step.a;
    const std::size_t defined = input_types_.size() + j;
    if (step.a >= defined || step.b >= defined || step.c >= defined) {
      throw std::invalid_argument("an elementwise step uses an operand before it is defined");
    }
    cost_ += element_cost(step.op);
  }
  std::vector<std::size_t> last_use(operands, 0);
  for (std::size_t j = 0; j < steps_.size(); ++j) {
    for (const std::uint8_t operand : {steps_[j].a, steps_[j].b, steps_[j].c}) {
      last_use[operand] = input_types_.size() + j;
    }
  }
  for (const int output : outputs_) {
    if (output < 0 || static_cast<std::size_t>(output) >= operands) {
      throw std::invalid_argument("an elementwise output names no operand");
    }
    last_use[static_cast<std::size_t>(output)] = operands;
  }
  for (const Element type : input_types_) cost_ += 0.05 * static_cast<double>(element_size(type));
  for (const Element type : output_types_) cost_ += 0.1 * static_cast<double>(element_size(type));
  // A register is free after its last use; a step may write where it reads, since loops go forward
  // element by element. Inputs are all fetched before the first step.
  slot_.assign(operands, 0);
  std::vector<std::size_t> owner;  // of each slot: the operand whose last use frees it
  for (std::size_t operand = 0; operand < operands; ++operand) {
    std::size_t slot = 0;
    while (slot < owner.size() &&
           (operand < input_types_.size() || last_use[owner[slot]] > operand)) {
      ++slot;
    }
    if (slot == owner.size()) owner.push_back(operand);
    owner[slot] = operand;
    slot_[operand] = static_cast<std::uint8_t>(slot);
  }
  slots_ = static_cast<int>(owner.size());
}

void ElementProgram::run(std::span<const std::int64_t> shape, std::span<const Input> inputs,
                         std::span<void* const> outputs) const {
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) total *= extent;
  if (total == 0) return;
  const Space space = collapse(shape, inputs);
  const int lanes = element_lanes();
  ElementAccess access{*this, space, inputs, outputs, 0, lanes, {}, {}, 0};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool scalar = space.repeats[i] && space.inner_stride[i] == 0;
    const bool row = space.repeats[i] && space.rank > 0 && space.inner <= 512;
    access.kept[i] = !space.flat[i] && (scalar || row) ? access.kept_count++ : -1;
  }
  std::int64_t tile = std::clamp<std::int64_t>(
      kTileBytes / (4 * (slots_ + access.kept_count)) / 64 * 64, 128, 2048);
  // Whole rows, so that what every row reads stands alike in every tile.
  if (space.rank > 0 && space.inner <= 512) {
    tile = std::max(space.inner, tile / space.inner * space.inner);
  }
  access.tile = tile;
  for (std::size_t j = 0; j < steps_.size(); ++j) access.loops[j] = element_loop(steps_[j].op);
  const std::int64_t tiles = (total + tile - 1) / tile;
  const auto grain = static_cast<std::int64_t>(5000.0 / (cost_ * static_cast<double>(tile))) + 1;
  parallel_for(tiles, grain, [&](std::int64_t begin, std::int64_t end) {
    access.run_range(begin * tile, std::min(end * tile, total));
  });
}

void unary(ElementOp op, std::int64_t n, const float* x, float* out, float p0, float p1) {
  const ElementLoop loop = element_loop(op);
  const int lanes = element_lanes();
  const auto grain = static_cast<std::int64_t>(5000.0 / (element_cost(op) + 0.5)) + 1;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    call_loop(loop, lanes, end - begin, x + begin, x + begin, x + begin, out + begin, p0, p1);
  });
}

void binary(ElementOp op, std::int64_t n, const float* a, const float* b, float* out) {
  const ElementLoop loop = element_loop(op);
  const int lanes = element_lanes();
  const auto grain = static_cast<std::int64_t>(5000.0 / (element_cost(op) + 0.8)) + 1;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    call_loop(loop, lanes, end - begin, a + begin, b + begin, a + begin, out + begin, 0, 0);
  });
}

void broadcast_strides(std::span<const std::int64_t> operand, std::span<const std::int64_t> out,
                       std::int64_t* stride) {
  const auto rank = static_cast<std::ptrdiff_t>(out.size());
  auto axis = static_cast<std::ptrdiff_t>(operand.size()) - 1;
  std::int64_t dense = 1;
  for (std::ptrdiff_t i = rank - 1; i >= 0; --i, --axis) {
    const bool present = axis >= 0 && operand[static_cast<std::size_t>(axis)] != 1;
    stride[i] = present ? dense : 0;
    if (axis >= 0) dense *= operand[static_cast<std::size_t>(axis)];
  }
}

}  // namespace concord::cpu
