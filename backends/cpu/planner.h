#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cpu/element.h"
#include "backends/cpu/plan.h"
#include "backends/cpu/program.h"

namespace concord::cpu {

// Makes one plan: what a PlanFn sees. Inputs and outputs are the node's, by position.
//
// A value is a strided view of a memory area. Movement operators mostly only make views; a reader
// that wants dense memory asks for it with in(), and gets a copy if the value is not dense.
class Planner {
 public:
  Planner(ProgramLayout& layout, std::shared_ptr<ProgramState> state, const Bindings& bindings);
  std::shared_ptr<const Plan> make_plan();

  // --- extents and types
  int input_count() const { return static_cast<int>(unit_->inputs.size()); }
  int output_count() const { return static_cast<int>(unit_->outputs.size()); }
  bool has(int input) const;
  bool has_output(int output) const;
  Dims shape(int input) const;
  Dims out_shape(int output = 0) const;
  DataType dtype(int input) const;
  DataType out_dtype(int output = 0) const;
  std::int64_t value(DimRef ref) const { return ref.slot < 0 ? ref.value : extents_[ref.slot]; }
  Dims values(std::span<const DimRef> refs) const;
  const Bindings& bindings() const { return data_.bindings; }

  // --- inputs; an omitted one gives the null Ref
  const View& view(int input);     // as it lies, read through its strides
  Ref in(int input);               // dense
  Ref in_bytes(int input);         // dense, to be read by memcpy: a constant may be unaligned
  View dense_view(int input);      // in() with its shape
  View dense_view_f32(int input);  // in_f32() with its shape
  Ref in_f32(int input);           // dense, of 16-bit floats a converted copy
  View view_f32(int input);        // as view; of 16-bit floats a dense converted copy
  bool is_constant(int input) const;

  // --- outputs
  Ref out(int output = 0);  // dense
  // Dense, in the place of an input that nobody reads later, if there is one of the same size. The
  // inputs are to be fetched before. `candidates` is a set of inputs by bit.
  Ref out_over(int output, std::uint32_t candidates);
  // f32, converted to the output's 16-bit type after the node's actions.
  Ref out_f32(int output = 0, std::uint32_t candidates = 0);
  // The output is this view, or a dense copy of it if its readers need one.
  void place(int output, const View& view);
  // A fresh area of the output's size with these strides, which permute a dense layout; a dense
  // one where the readers need it. Returns the view to write.
  View out_strided(int output, const Dims& strides);
  bool output_may_be_strided(int output) const;
  // Of a step whose output is a state: where it lies, input 0 as its beginning. Else nullopt.
  std::optional<View> out_state();
  // One area for output 0 and the side outputs: rows of all their columns side by side, each a view
  // of its own.
  Ref out_side_by_side(std::span<const std::int64_t> columns);

  // Memory of this step alone.
  Ref scratch(std::int64_t bytes);

  // --- what the step does
  void kernel(std::string_view name) { info_.kernel = name; }
  void flops(double count) { info_.flops = count; }
  // Bytes read and written, where that is not every operand once.
  void bytes(double count) { info_.bytes = count; }
  void precision(const StepPrecision& precision) { info_.precision = precision; }
  template <typename Run>
  void emit(Run run) {
    class Closure final : public Action {
     public:
      explicit Closure(Run r) : run_(std::move(r)) {}
      void run(const Frame& frame) const override { run_(frame); }

     private:
      Run run_;
    };
    data_.actions.push_back(std::make_unique<Closure>(std::move(run)));
  }
  template <typename Run>
  void emit(std::string_view name, double operations, Run run) {
    kernel(name);
    flops(operations);
    emit(std::move(run));
  }

 private:
  struct ValueState {
    View view;
    Ref dense;  // a dense copy, where the view is strided and a reader wanted one
    Ref f32;    // a converted copy
    int uses_left = 0;
  };
  struct Area {
    enum class Kind : std::uint8_t { fixed, arena, input, output, state } kind = Kind::fixed;
    std::int32_t piece = -1;   // of the arena
    std::int32_t pending = 0;  // reads still to come, by all values that lie here
  };

  void start_values();
  void start_states();
  void plan_unit(const Unit& unit);
  void finish_unit();
  void finish_outputs();
  void layout_arena();
  int number(int input) const;
  ValueState& state(int input) { return values_[static_cast<std::size_t>(number(input))]; }
  std::uint32_t add_area(Area::Kind kind);
  Ref add_piece(std::int64_t bytes);
  void touch(std::uint32_t area);
  void set_view(int value, const View& view);
  void align_constant(int value);
  Ref dense_copy(int value);
  Ref fresh(int value, std::int64_t bytes);
  void copy_view(const View& from, Ref to);
  Ref constant_f32(int value);

  ProgramLayout& layout_;
  std::shared_ptr<ProgramState> program_;
  std::vector<std::int64_t> extents_;
  std::vector<ValueState> values_;
  std::vector<Area> areas_;
  std::vector<Lifetime> pieces_;
  std::vector<std::uint32_t> output_areas_;
  PlanData data_;
  std::vector<std::pair<std::uint32_t, std::byte*>> fixed_later_;  // converted constants
  const Unit* unit_ = nullptr;
  StepInfo info_;
  struct Narrowing {
    int value;
    Ref f32;
  };
  std::vector<Narrowing> narrowings_;  // f32 results to convert after the node's actions
};

// New strides of a view that is reshaped without a copy, if that is possible.
std::optional<Dims> reshape_strides(const Dims& shape, const Dims& strides, const Dims& to);

}  // namespace concord::cpu
