// What a PlanFn asks of the planner: extents, inputs, outputs, views.

#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/planner.h"

namespace concord::cpu {

// --- extents and types

int Planner::number(int input) const {
  return input >= 0 && input < input_count() ? unit_->inputs[static_cast<std::size_t>(input)] : -1;
}

bool Planner::has(int input) const {
  return number(input) >= 0;
}

bool Planner::has_output(int output) const {
  return output < output_count() && unit_->outputs[static_cast<std::size_t>(output)] >= 0;
}

Dims Planner::shape(int input) const {
  return values_[static_cast<std::size_t>(number(input))].view.shape;
}

Dims Planner::out_shape(int output) const {
  return values_[static_cast<std::size_t>(unit_->outputs[static_cast<std::size_t>(output)])]
      .view.shape;
}

DataType Planner::dtype(int input) const {
  return layout_.values[static_cast<std::size_t>(number(input))].dtype;
}

DataType Planner::out_dtype(int output) const {
  return layout_.values[static_cast<std::size_t>(unit_->outputs[static_cast<std::size_t>(output)])]
      .dtype;
}

Dims Planner::values(std::span<const DimRef> refs) const {
  Dims dims;
  for (DimRef ref : refs) dims.push_back(value(ref));
  return dims;
}

bool Planner::is_constant(int input) const {
  return has(input) && layout_.values[static_cast<std::size_t>(number(input))].area != 0;
}

// --- inputs

// Moves a constant that lies unaligned in its file: typed access needs it so.
void Planner::align_constant(int value) {
  const ValueInfo& info = layout_.values[static_cast<std::size_t>(value)];
  if (info.area == 0) return;
  layout_.fixed[info.area] = const_cast<std::byte*>(info.constant->data());
}

const View& Planner::view(int input) {
  static const View none;
  if (!has(input)) return none;
  align_constant(number(input));
  touch(state(input).view.at.area);
  return state(input).view;
}

Ref Planner::in(int input) {
  if (has(input)) align_constant(number(input));
  return in_bytes(input);
}

View Planner::dense_view(int input) {
  View result;
  if (!has(input)) return result;
  result.at = in(input);
  result.dtype = dtype(input);
  result.shape = shape(input);
  result.strides = dense_strides(result.shape);
  return result;
}

View Planner::dense_view_f32(int input) {
  if (!has(input) || !is_half(dtype(input))) return dense_view(input);
  return view_f32(input);
}

Ref Planner::in_bytes(int input) {
  if (!has(input)) return {};
  if (!state(input).view.dense()) return dense_copy(number(input));
  touch(state(input).view.at.area);
  return state(input).view.at;
}

Ref Planner::in_f32(int input) {
  if (!has(input)) return {};
  if (!is_half(dtype(input))) return in(input);
  ValueState& value = state(input);
  if (!value.f32) {
    if (is_constant(input)) {
      value.f32 = constant_f32(number(input));
    } else {
      const Ref from = in(input);
      const std::int64_t count = value.view.shape.count();
      value.f32 = add_piece(count * 4);
      emit([from, to = value.f32, type = element(value.view.dtype), count](const Frame& f) {
        convert(type, f.at(from), Element::f32, f.at(to), count);
      });
    }
  }
  touch(value.f32.area);
  return value.f32;
}

View Planner::view_f32(int input) {
  if (!has(input) || !is_half(dtype(input))) return view(input);
  View result;
  result.at = in_f32(input);
  result.dtype = DataType::f32;
  result.shape = shape(input);
  result.strides = dense_strides(result.shape);
  return result;
}

// Converted once for all plans, and kept by the program.
Ref Planner::constant_f32(int value) {
  ValueInfo& info = layout_.values[static_cast<std::size_t>(value)];
  if (info.f32 == nullptr) {
    auto converted = std::make_shared<AlignedBuffer>(
        static_cast<std::size_t>(std::max<std::int64_t>(1, info.constant->count()) * 4));
    convert(element(info.dtype), info.constant->data(), Element::f32, converted->data(),
            info.constant->count());
    info.f32 = converted->data();
    layout_.weight_bytes += info.constant->count() * 4;
    layout_.keep.push_back(std::move(converted));
  }
  const std::uint32_t area = add_area(Area::Kind::fixed);
  fixed_later_.push_back({area, info.f32});
  return {area, 0};
}

// --- outputs

Ref Planner::out(int output) {
  return out_over(output, 0);
}

Ref Planner::out_over(int output, std::uint32_t candidates) {
  const int value = unit_->outputs[static_cast<std::size_t>(output)];
  if (value < 0) return {};
  View view = values_[static_cast<std::size_t>(value)].view;
  view.strides = dense_strides(view.shape);
  const std::int64_t bytes = view.bytes();
  if (layout_.values[static_cast<std::size_t>(value)].output < 0) {
    for (int i = 0; i < input_count() && candidates != 0; ++i) {
      if ((candidates >> i & 1) == 0 || !has(i)) continue;
      const View& source = state(i).view;
      const Area& area = areas_[source.at.area];
      if (area.kind != Area::Kind::arena || !source.dense() || source.bytes() != bytes) continue;
      const auto here = std::count_if(unit_->inputs.begin(), unit_->inputs.end(), [&](int other) {
        return other >= 0 &&
               values_[static_cast<std::size_t>(other)].view.at.area == source.at.area;
      });
      if (here != area.pending) continue;
      view.at = source.at;
      set_view(value, view);
      return view.at;
    }
  }
  view.at = fresh(value, bytes);
  set_view(value, view);
  return view.at;
}

Ref Planner::out_f32(int output, std::uint32_t candidates) {
  const int value = unit_->outputs[static_cast<std::size_t>(output)];
  if (value < 0) return {};
  if (!is_half(out_dtype(output))) return out_over(output, candidates);
  out(output);
  const Ref f32 = scratch(out_shape(output).count() * 4);
  narrowings_.push_back({value, f32});
  return f32;
}

bool Planner::output_may_be_strided(int output) const {
  const ValueInfo& info =
      layout_.values[static_cast<std::size_t>(unit_->outputs[static_cast<std::size_t>(output)])];
  return info.wants_view && info.output < 0;
}

void Planner::place(int output, const View& view) {
  const int value = unit_->outputs[static_cast<std::size_t>(output)];
  if (value < 0) return;
  const ValueInfo& info = layout_.values[static_cast<std::size_t>(value)];
  touch(view.at.area);
  const bool dense = view.dense();
  if (info.output >= 0) {
    const Ref target{output_areas_[static_cast<std::size_t>(info.output)], 0};
    View placed = view;
    placed.at = target;
    placed.strides = dense_strides(view.shape);
    if (!dense || view.at.area != target.area) copy_view(view, target);
    set_view(value, placed);
    return;
  }
  if (!dense && !info.wants_view) {
    View copy = view;
    copy.strides = dense_strides(view.shape);
    copy.at = add_piece(view.bytes());
    copy_view(view, copy.at);
    set_view(value, copy);
    return;
  }
  set_view(value, view);
}

View Planner::out_strided(int output, const Dims& strides) {
  const int value = unit_->outputs[static_cast<std::size_t>(output)];
  if (!output_may_be_strided(output)) {
    out(output);
    return values_[static_cast<std::size_t>(value)].view;
  }
  View view = values_[static_cast<std::size_t>(value)].view;
  view.strides = strides;
  view.at = add_piece(view.bytes());
  set_view(value, view);
  return view;
}

std::optional<View> Planner::out_state() {
  const int value = unit_->outputs[0];
  const int state = layout_.values[static_cast<std::size_t>(value)].state;
  if (state < 0) return std::nullopt;
  View view = values_[static_cast<std::size_t>(value)].view;
  view.at = {data_.states[static_cast<std::size_t>(state)].area, 0};
  set_view(value, view);
  return view;
}

Ref Planner::out_side_by_side(std::span<const std::int64_t> columns) {
  std::int64_t width = 0;
  for (std::int64_t n : columns) width += n;
  const int first = unit_->outputs[0];
  const Dims& shape = values_[static_cast<std::size_t>(first)].view.shape;
  const std::int64_t rows = shape.product(0, shape.rank() - 1);
  const Ref area = add_piece(rows * width * 4);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int value = i == 0 ? first : unit_->side_outputs[i - 1];
    View view = values_[static_cast<std::size_t>(value)].view;
    const int last = view.shape.rank() - 1;
    Dims wide = view.shape;
    wide[last] = width;
    view.strides = dense_strides(wide);
    view.at = area.plus(start * 4);
    start += columns[i];
    set_view(value, view);
  }
  return area;
}

Ref Planner::scratch(std::int64_t bytes) {
  return add_piece(bytes);
}

// --- views

std::optional<Dims> reshape_strides(const Dims& shape, const Dims& strides, const Dims& to) {
  if (is_dense(shape, strides)) return dense_strides(to);
  // Merge neighbouring axes that lie densely; then cut each run as `to` wants.
  Dims result = Dims::filled(to.rank(), 0);
  int target = 0;
  int axis = 0;
  while (axis < shape.rank()) {
    if (shape[axis] == 1) {
      ++axis;
      continue;
    }
    std::int64_t run = shape[axis];
    std::int64_t inner = strides[axis];
    int next = axis + 1;
    for (; next < shape.rank(); ++next) {
      if (shape[next] == 1) continue;
      if (inner != strides[next] * shape[next]) break;
      run *= shape[next];
      inner = strides[next];
    }
    // Axes of `to` whose product is this run.
    std::int64_t product = 1;
    const int first = target;
    while (target < to.rank() && (product < run || to[target] == 1)) {
      product *= to[target];
      ++target;
    }
    if (product != run) return std::nullopt;
    std::int64_t stride = inner;
    for (int i = target - 1; i >= first; --i) {
      result[i] = stride;
      stride *= to[i];
    }
    axis = next;
  }
  for (; target < to.rank(); ++target) {
    if (to[target] != 1) return std::nullopt;
    result[target] = 1;
  }
  return result;
}

}  // namespace concord::cpu
