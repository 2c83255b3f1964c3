#include "parity/decode.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/evaluate_graph.h"
#include "graph/error.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::ValueId;

bool contains(const std::string& name, const char* word) {
  return name.find(word) != std::string::npos;
}

// "past_key_values.0.key" → "present.0.key", as exporters name them.
std::vector<std::string> present_names(const std::string& past) {
  std::vector<std::string> names;
  for (const char* from : {"past_key_values", "past_key_value", "past"}) {
    const std::size_t at = past.find(from);
    if (at == std::string::npos) continue;
    for (const char* to : {"present", "present_key_values"}) {
      names.push_back(std::string(past).replace(at, std::string(from).size(), to));
    }
  }
  return names;
}

void set_int(Tensor& tensor, std::int64_t index, std::int64_t value) {
  const auto at = static_cast<std::size_t>(index);
  if (tensor.dtype() == DataType::i32) {
    tensor.as_mutable<std::int32_t>()[at] = static_cast<std::int32_t>(value);
  } else {
    tensor.as_mutable<std::int64_t>()[at] = value;
  }
}

bool is_index_type(const Tensor& tensor) {
  return tensor.dtype() == DataType::i32 || tensor.dtype() == DataType::i64;
}

// One more column of ones along the last axis.
Tensor longer(const Tensor& mask) {
  Shape shape = mask.shape();
  const std::int64_t width = shape.back();
  ++shape.back();
  Tensor result(mask.dtype(), shape);
  for (std::int64_t i = 0; i < result.count(); ++i) {
    const std::int64_t column = i % (width + 1);
    const std::int64_t from = i / (width + 1) * width + column;
    if (is_index_type(mask)) {
      set_int(result, i, column < width ? mask.at_int(from) : 1);
    } else if (mask.dtype() == DataType::boolean) {
      result.as_mutable<bool>()[static_cast<std::size_t>(i)] =
          column == width || mask.at_int(from) != 0;
    } else {
      throw Error(
          ErrorKind::usage,
          "the mask is " + std::string(to_string(mask.dtype())) + ": how it goes on is not known",
          "--decode wants a mask of integers or bools");
    }
  }
  return result;
}

// Rows of the last position as float64.
Tensor last_rows(const Tensor& logits) {
  const Shape& shape = logits.shape();
  const std::int64_t batch = shape[0];
  const std::int64_t positions = shape[1];
  const std::int64_t width = shape[2];
  Tensor rows(DataType::f64, {batch, width});
  const auto to = rows.as_mutable<double>();
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < width; ++i) {
      to[static_cast<std::size_t>(b * width + i)] =
          logits.at_double((b * positions + positions - 1) * width + i);
    }
  }
  return rows;
}

std::vector<std::int64_t> chosen(const Tensor& rows) {
  const std::int64_t width = rows.shape()[1];
  std::vector<std::int64_t> tokens;
  for (std::int64_t b = 0; b < rows.shape()[0]; ++b) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < width; ++i) {
      if (rows.at_double(b * width + i) > rows.at_double(b * width + best)) best = i;
    }
    tokens.push_back(best);
  }
  return tokens;
}

}  // namespace

DecoderLayout decoder_layout(const Graph& graph) {
  DecoderLayout layout;
  const auto output_named = [&](const std::string& name) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      if (graph.value(graph.outputs[i]).name == name) return i;
    }
    return std::nullopt;
  };
  bool has_tokens = false;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs[i]);
    const std::size_t rank = value.shape ? value.shape->size() : 0;
    bool is_cache = false;
    for (const std::string& name : present_names(value.name)) {
      const auto output = output_named(name);
      if (!output || is_cache) continue;
      layout.caches.emplace_back(i, *output);
      is_cache = true;
    }
    if (is_cache) continue;
    if (value.dtype == DataType::boolean && rank <= 1) {
      layout.switches.push_back(i);
    } else if (contains(value.name, "encoder_") && !contains(value.name, "decoder_")) {
      continue;  // the encoder's stays
    } else if (contains(value.name, "mask")) {
      layout.masks.push_back(i);
    } else if (contains(value.name, "position")) {
      layout.positions.push_back(i);
    } else if (!has_tokens && rank == 2 && is_integer(value.dtype)) {
      layout.tokens = i;
      has_tokens = true;
    }
  }
  std::optional<std::size_t> logits = output_named("logits");
  for (std::size_t i = 0; i < graph.outputs.size() && !logits; ++i) {
    const graph::Value& value = graph.value(graph.outputs[i]);
    if (value.shape && value.shape->size() == 3 && is_float(value.dtype)) logits = i;
  }
  if (!has_tokens || !logits || layout.caches.empty()) {
    throw Error(ErrorKind::usage,
                std::string("--decode: the model is no decoder: it has no ") +
                    (!has_tokens ? "input of token ids"
                     : !logits   ? "output of logits"
                                 : "past input with a present output"),
                "give a model with past_key_values.* inputs and present.* outputs");
  }
  layout.logits = *logits;
  return layout;
}

std::vector<Tensor> next_inputs(const DecoderLayout& layout, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs,
                                const std::vector<std::int64_t>& tokens) {
  std::vector<Tensor> next = inputs;
  const auto batch = static_cast<std::int64_t>(tokens.size());
  Tensor ids(inputs[layout.tokens].dtype(), {batch, 1});
  for (std::int64_t b = 0; b < batch; ++b) set_int(ids, b, tokens[static_cast<std::size_t>(b)]);
  next[layout.tokens] = ids;
  for (const auto& [input, output] : layout.caches) next[input] = outputs.at(output);
  for (const std::size_t mask : layout.masks) next[mask] = longer(inputs[mask]);
  for (const std::size_t position : layout.positions) {
    const Tensor& before = inputs[position];
    const std::int64_t width = before.shape().back();
    Shape shape = before.shape();
    shape.back() = 1;
    Tensor after(before.dtype(), shape);
    for (std::int64_t row = 0; row < after.count(); ++row) {
      set_int(after, row, before.at_int((row + 1) * width - 1) + 1);
    }
    next[position] = after;
  }
  for (const std::size_t index : layout.switches) {
    next[index] = inputs[index].clone();
    for (bool& value : next[index].as_mutable<bool>()) value = true;
  }
  return next;
}

std::vector<DecodedStep> decode_oracle(const Graph& imported, const DecoderLayout& layout,
                                       const std::vector<Tensor>& inputs, int steps,
                                       const std::function<void(double)>& progress) {
  std::vector<DecodedStep> result;
  std::vector<Tensor> given = inputs;
  std::vector<reference::OracleValue> values;
  for (const Tensor& tensor : given) values.push_back(reference::from_tensor(tensor));
  for (int step = 0; step < steps; ++step) {
    if (progress) progress(static_cast<double>(step) / steps);
    const std::vector<reference::OracleValue> outputs =
        reference::evaluate_graph(imported, std::span<const reference::OracleValue>(values), {});
    DecodedStep decoded;
    decoded.logits = last_rows(outputs.at(layout.logits).value);
    decoded.tokens = chosen(decoded.logits);
    // Caches go on in float64: nothing of the oracle's own is rounded.
    std::vector<Tensor> written;
    for (const auto& output : outputs) written.push_back(output.value);
    given = next_inputs(layout, given, written, decoded.tokens);
    std::vector<reference::OracleValue> next;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto cache = std::find_if(layout.caches.begin(), layout.caches.end(),
                                      [&](const auto& pair) { return pair.first == i; });
      next.push_back(cache != layout.caches.end() ? outputs.at(cache->second)
                                                  : reference::from_tensor(given[i]));
    }
    values = std::move(next);
    result.push_back(std::move(decoded));
  }
  return result;
}

DecodeReport decode_worker(const DecoderLayout& layout, const std::vector<Tensor>& inputs,
                           const std::vector<DecodedStep>& wanted, Worker& worker) {
  DecodeReport report;
  std::vector<Tensor> given = inputs;
  for (std::size_t step = 0; step < wanted.size(); ++step) {
    const std::vector<Tensor> outputs = worker.run(given, false).outputs;
    const Tensor rows = last_rows(outputs.at(layout.logits));
    const Tensor& reference = wanted[step].logits;
    const Metrics metrics = compare(rows, reference);
    report.drift.push_back(metrics.rms_error);
    report.largest.push_back(metrics.max_abs);
    const std::vector<std::int64_t> tokens = chosen(rows);
    const std::int64_t width = rows.shape()[1];
    for (std::size_t b = 0; b < tokens.size(); ++b) {
      const std::int64_t right = wanted[step].tokens[b];
      if (tokens[b] == right) continue;
      ++report.other_tokens;
      if (report.first_difference) continue;
      const auto row = static_cast<std::int64_t>(b) * width;
      report.first_difference = static_cast<int>(step);
      report.token = tokens[b];
      report.reference_token = right;
      report.margin = reference.at_double(row + right) - reference.at_double(row + tokens[b]);
      report.own_margin = rows.at_double(row + tokens[b]) - rows.at_double(row + right);
    }
    given = next_inputs(layout, given, outputs, wanted[step].tokens);
  }
  return report;
}

}  // namespace concord::parity
