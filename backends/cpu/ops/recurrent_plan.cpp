#include "backends/cpu/ops/recurrent_plan.h"

#include <algorithm>
#include <cctype>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

enum : int { kX, kW, kR, kBias, kLengths, kH0, kC0, kPeephole };

std::optional<CellFunction> function_named(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
  // With the parameters that ONNX gives where a model names none.
  if (name == "sigmoid") return CellFunction{ElementOp::sigmoid, 0, 0};
  if (name == "tanh") return CellFunction{ElementOp::tanh, 0, 0};
  if (name == "relu") return CellFunction{ElementOp::relu, 0, 0};
  if (name == "softsign") return CellFunction{ElementOp::softsign, 0, 0};
  if (name == "softplus") return CellFunction{ElementOp::softplus, 0, 0};
  if (name == "leakyrelu") return CellFunction{ElementOp::leaky_relu, 0.01f, 0};
  if (name == "thresholdedrelu") return CellFunction{ElementOp::thresholded_relu, 1, 0};
  if (name == "elu") return CellFunction{ElementOp::elu, 1, 0};
  if (name == "hardsigmoid") return CellFunction{ElementOp::hard_sigmoid, 0.2f, 0.5f};
  if (name == "affine") return CellFunction{ElementOp::affine, 1, 0};
  return std::nullopt;
}

std::vector<std::string> function_names(const graph::Node& node) {
  std::vector<std::string> names;
  std::string name;
  for (char c : node.attrs.text("activations") + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(name);
      name.clear();
    }
  }
  return names;
}

int functions_of(Cell cell) {
  return cell == Cell::lstm ? 3 : cell == Cell::gru ? 2 : 1;
}

struct Direction {
  bool reverse = false;
  CellFunction functions[3];
};

std::vector<Direction> directions_of(const graph::Node& node, Cell cell) {
  const std::string text = node.attrs.text("direction");
  std::vector<Direction> directions(text == "bidirectional" ? 2 : 1);
  directions.back().reverse = text != "forward";
  const std::vector<std::string> names = function_names(node);
  std::size_t next = 0;
  for (Direction& d : directions) {
    for (int i = 0; i < functions_of(cell); ++i) {
      d.functions[i] = function_named(names.at(next++)).value();
    }
  }
  return directions;
}

// Both weights of one direction, packed.
struct Weights {
  PackedWeights w, r, r_hidden;
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(w.bytes() + r.bytes() + r_hidden.bytes());
  }
};

// w [gates · hidden, input] and r [gates · hidden, hidden] of one direction.
Weights pack(Cell cell, bool split_hidden, std::int64_t input, std::int64_t hidden, const float* w,
             const float* r, Element storage) {
  const std::int64_t columns = gate_count(cell) * hidden;
  const std::int64_t first = split_hidden ? 2 * hidden : columns;
  Weights packed;
  packed.w = PackedWeights::pack(MatrixView{w, Element::f32, input, columns, 1, input}, storage);
  packed.r = PackedWeights::pack(MatrixView{r, Element::f32, hidden, first, 1, hidden}, storage);
  if (split_hidden) {
    packed.r_hidden = PackedWeights::pack(
        MatrixView{r + first * hidden, Element::f32, hidden, hidden, 1, hidden}, storage);
  }
  return packed;
}

struct Form {
  Cell cell;
  std::int64_t hidden;
  std::vector<Direction> directions;
  bool linear_before_reset, input_forget, batch_first, split_hidden;
  float clip;
  std::shared_ptr<const std::vector<Weights>> weights;  // null: they come with the run
};

void plan(Planner& p, const Form& form) {
  const Dims x_shape = p.shape(kX);
  RecurrentArgs args;
  args.cell = form.cell;
  args.seq = x_shape[form.batch_first ? 1 : 0];
  args.batch = x_shape[form.batch_first ? 0 : 1];
  args.input = x_shape[2];
  args.hidden = form.hidden;
  args.linear_before_reset = form.linear_before_reset;
  args.input_forget = form.input_forget;
  args.clip = form.clip;
  const auto count = static_cast<std::int64_t>(form.directions.size());
  args.x_step = form.batch_first ? args.input : args.batch * args.input;
  args.x_batch = form.batch_first ? args.seq * args.input : args.input;
  if (args.batch == 1) args.x_step = args.input;
  // y [seq, directions, batch, hidden] or [batch, seq, directions, hidden].
  args.y_step = form.batch_first ? count * form.hidden : count * args.batch * form.hidden;
  args.y_batch = form.batch_first ? args.seq * args.y_step : form.hidden;
  const std::int64_t y_direction = form.batch_first ? form.hidden : args.batch * form.hidden;
  // States [directions, batch, hidden] or [batch, directions, hidden].
  args.state_batch = args.state0_batch = form.batch_first ? count * form.hidden : form.hidden;
  const std::int64_t state_direction = y_direction;

  const Ref x = p.in_f32(kX);
  const Ref bias = p.in_f32(kBias);
  const Ref h0 = p.in_f32(kH0);
  const Ref c0 = p.in_f32(kC0);
  const Ref peephole = p.in_f32(kPeephole);
  const Ref lengths = p.in(kLengths);
  const Ref w = form.weights ? Ref{} : p.in_f32(kW);
  const Ref r = form.weights ? Ref{} : p.in_f32(kR);
  const std::int64_t workspace_floats = recurrent_workspace(args);
  const Ref workspace = p.scratch(count * workspace_floats * 4);
  Ref y[3];
  for (int i = 0; i < 3; ++i) y[i] = p.has_output(i) ? p.out_f32(i) : Ref{};
  const std::int64_t gates = gate_count(form.cell);
  const double flops = 2.0 * static_cast<double>(count * args.seq * args.batch) *
                       static_cast<double>(gates * form.hidden * (args.input + form.hidden));
  p.emit(form.cell == Cell::lstm  ? "lstm"
         : form.cell == Cell::gru ? "gru"
                                  : "rnn",
         flops, [=, y0 = y[0], y1 = y[1], y2 = y[2]](const Frame& f) {
           const auto read = [&](Ref at, std::int64_t offset) {
             return at ? f.at<const float>(at) + offset : nullptr;
           };
           const auto write = [&](Ref at, std::int64_t offset) {
             return at ? f.at<float>(at) + offset : nullptr;
           };
           parallel_dynamic(count, count > 1 ? flops / 40 : 0, [&](std::int64_t d) {
             const auto index = static_cast<std::size_t>(d);
             RecurrentArgs now = args;
             now.reverse = form.directions[index].reverse;
             std::copy_n(form.directions[index].functions, 3, now.functions);
             Weights own;
             if (form.weights == nullptr) {
               own =
                   pack(form.cell, form.split_hidden, args.input, form.hidden,
                        f.at<const float>(w) + d * gates * form.hidden * args.input,
                        f.at<const float>(r) + d * gates * form.hidden * form.hidden, Element::f32);
             }
             const Weights& packed = form.weights == nullptr ? own : (*form.weights)[index];
             now.w = &packed.w;
             now.r = &packed.r;
             now.r_hidden = &packed.r_hidden;
             now.bias = read(bias, d * 2 * gates * form.hidden);
             now.peephole = read(peephole, d * 3 * form.hidden);
             now.lengths = f.at<const std::int32_t>(lengths);
             now.x = f.at<const float>(x);
             now.h0 = read(h0, d * state_direction);
             now.c0 = read(c0, d * state_direction);
             now.y = write(y0, d * y_direction);
             now.h_last = write(y1, d * state_direction);
             now.c_last = write(y2, d * state_direction);
             now.workspace = f.at<float>(workspace) + d * workspace_floats;
             recurrent(now);
           });
         });
}

}  // namespace

std::optional<std::string> why_not_recurrent(const graph::Graph& graph, const graph::Node& node,
                                             Cell cell) {
  if (auto why = why_not_float(graph, node, {kX, kW, kR})) return why;
  const std::vector<std::string> names = function_names(node);
  for (const std::string& name : names) {
    if (!function_named(name)) return "the activation " + name;
  }
  const std::size_t directions = node.attrs.text("direction") == "bidirectional" ? 2 : 1;
  if (names.size() != directions * static_cast<std::size_t>(functions_of(cell))) {
    return std::to_string(names.size()) + " activations";
  }
  return std::nullopt;
}

PlanFn prepare_recurrent(Compiler& c, Cell cell) {
  const auto flag = [&](const char* name) { return c.attrs().integer(name, 0) != 0; };
  Form form{cell,
            c.attrs().integer("hidden_size"),
            directions_of(c.node(), cell),
            flag("linear_before_reset"),
            flag("input_forget"),
            flag("layout"),
            false,
            static_cast<float>(c.attrs().number("clip", 0.0)),
            nullptr};
  form.split_hidden = cell == Cell::gru && !form.linear_before_reset;
  const Tensor* w = c.constant(kW);
  const Tensor* r = c.constant(kR);
  if (w != nullptr && r != nullptr) {
    auto packed = std::make_shared<std::vector<Weights>>();
    const std::int64_t input = w->shape()[2];
    const std::int64_t rows = gate_count(cell) * form.hidden;
    // Rounding a state anew at every step adds up; recurrent layers stay in f32 but for models that
    // are stored in 16 bits.
    const Element storage = w->dtype() == DataType::f16 ? Element::f16 : Element::f32;
    for (std::size_t d = 0; d < form.directions.size(); ++d) {
      const auto at = static_cast<std::int64_t>(d) * rows;
      packed->push_back(pack(cell, form.split_hidden, input, form.hidden,
                             c.constant_f32(*w) + at * input, c.constant_f32(*r) + at * form.hidden,
                             storage));
      c.add_weight_bytes(packed->back().bytes());
    }
    form.weights = std::move(packed);
    w->release_pages();
    r->release_pages();
  }
  return [form](Planner& p) { plan(p, form); };
}

}  // namespace concord::cpu
