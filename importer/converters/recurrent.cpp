#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

// "sigmoid,tanh,tanh" for each direction, by the core's names of the functions.
std::string activations(Conversion& c, std::size_t per_direction, std::int64_t directions,
                        std::string_view otherwise) {
  if (c.numbers("activation_alpha").value_or(std::vector<double>{}).size() +
          c.numbers("activation_beta").value_or(std::vector<double>{}).size() >
      0) {
    c.unsupported("activation_alpha and activation_beta");
  }
  std::string text;
  const auto given = c.texts("activations");
  if (!given || given->empty()) {
    for (std::int64_t i = 0; i < directions; ++i) {
      text += (i == 0 ? "" : ",") + std::string(otherwise);
    }
    return text;
  }
  if (given->size() != per_direction * static_cast<std::size_t>(directions)) {
    c.invalid("attribute 'activations' names " + std::to_string(given->size()) +
              " functions, expected " +
              std::to_string(per_direction * static_cast<std::size_t>(directions)));
  }
  for (const std::string& name : *given) {
    const std::string lower = lower_case(name);
    if (lower != "sigmoid" && lower != "tanh" && lower != "relu" && lower != "softsign" &&
        lower != "softplus") {
      c.unsupported("activation '" + name + "'");
    }
    text += (text.empty() ? "" : ",") + lower;
  }
  return text;
}

struct Cell {
  OpKind op;
  std::size_t functions;  // activations of one direction
  std::string_view otherwise;
  std::size_t outputs;
  std::size_t inputs;
};

Attributes cell_attributes(Conversion& c, const Cell& cell, ValueId recurrence) {
  const std::string direction = lower_case(c.text("direction", "forward"));
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    c.invalid("attribute 'direction' is '" + direction + "'");
  }
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  // R is [directions, gates·hidden, hidden].
  std::int64_t hidden = c.integer("hidden_size", 0);
  if (hidden == 0) {
    const auto& shape = c.shape(recurrence);
    const auto width = shape && shape->size() == 3 ? (*shape)[2].constant() : std::nullopt;
    if (!width) c.invalid("attribute 'hidden_size' is missing");
    hidden = *width;
  }
  if (hidden < 1) c.invalid("attribute 'hidden_size' is " + std::to_string(hidden));
  c.ignore({"output_sequence"});
  return {{"hidden_size", hidden},
          {"direction", direction},
          {"activations", activations(c, cell.functions, directions, cell.otherwise)},
          {"layout", c.integer("layout", 0)},
          {"clip", c.number("clip", 0.0)}};
}

void emit_cell(Conversion& c, const Cell& cell, Attributes attrs) {
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < cell.inputs; ++i) {
    inputs.push_back(i < 3 ? c.input(i) : c.optional_input(i));
  }
  std::vector<bool> wanted;
  for (std::size_t i = 0; i < cell.outputs; ++i) wanted.push_back(c.wants_output(i));
  while (wanted.size() > 1 && !wanted.back()) wanted.pop_back();
  const auto results = c.emit_many(cell.op, std::move(inputs), std::move(attrs), wanted);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].valid()) c.output(i, results[i]);
  }
}

void lstm(Conversion& c) {
  const Cell cell{OpKind::lstm, 3, "sigmoid,tanh,tanh", 3, 8};
  Attributes attrs = cell_attributes(c, cell, c.input(2));
  attrs.set("input_forget", std::int64_t{c.flag("input_forget") ? 1 : 0});
  emit_cell(c, cell, std::move(attrs));
}

void gru(Conversion& c) {
  const Cell cell{OpKind::gru, 2, "sigmoid,tanh", 2, 6};
  Attributes attrs = cell_attributes(c, cell, c.input(2));
  attrs.set("linear_before_reset", std::int64_t{c.flag("linear_before_reset") ? 1 : 0});
  emit_cell(c, cell, std::move(attrs));
}

void rnn(Conversion& c) {
  const Cell cell{OpKind::rnn, 1, "tanh", 2, 6};
  emit_cell(c, cell, cell_attributes(c, cell, c.input(2)));
}

// com.microsoft: an LSTM whose weights [directions, I, 4H] are bytes. onnxruntime also rounds the
// activations to bytes before each product; here they stay as they are.
void dynamic_quantize_lstm(Conversion& c) {
  c.oddity("DynamicQuantizeLSTM is computed with the activations unquantised");
  const auto weight = [&](std::size_t i, std::size_t scale_at) {
    const ValueId w = c.cast(c.input(i), DataType::f32);
    const auto spread = [&](ValueId v) {
      SymShape shape = c.known_shape(v);
      shape.insert(shape.begin() + 1, Dim(1));
      if (shape.size() == 2) shape.emplace_back(1);
      return c.reshape(c.cast(v, DataType::f32), std::move(shape));
    };
    const ValueId centred = c.binary(BinaryFn::sub, w, spread(c.input(scale_at + 1)));
    return c.transpose(c.binary(BinaryFn::mul, centred, spread(c.input(scale_at))), {0, 2, 1});
  };
  const ValueId w = weight(1, 8);
  const ValueId r = weight(2, 10);
  const Cell cell{OpKind::lstm, 3, "sigmoid,tanh,tanh", 3, 8};
  Attributes attrs = cell_attributes(c, cell, r);
  attrs.set("input_forget", std::int64_t{c.flag("input_forget") ? 1 : 0});
  std::vector<ValueId> inputs{c.input(0), w, r};
  for (std::size_t i = 3; i < 8; ++i) inputs.push_back(c.optional_input(i));
  const auto results =
      c.emit_many(OpKind::lstm, std::move(inputs), std::move(attrs), {true, true, true});
  for (std::size_t i = 0; i < 3; ++i) c.output(i, results[i]);
}

constexpr Converter kConverters[] = {
    {kOnnx, "GRU", 1, kLatest, gru},
    {kOnnx, "LSTM", 1, kLatest, lstm},
    {kOnnx, "RNN", 1, kLatest, rnn},
    {kMicrosoft, "DynamicQuantizeLSTM", 1, kLatest, dynamic_quantize_lstm},
};

}  // namespace

std::span<const Converter> recurrent_converters() {
  return kConverters;
}

}  // namespace concord::importer
