// Time per token of a decoder whose cache grows: every present* output becomes the past* input of
// the next step, as a program that generates text does it.
//
//   decode_steps MODEL.onnx SPEC FROM TO [REPEATS]
//
// Tokens are fixed numbers, not chosen: only time is measured. Prints per repeat the median and the
// mean in ms over the steps FROM..TO of the cache's length, after one step that is not counted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "backends/session.h"
#include "graph/error.h"
#include "importer/importer.h"

namespace concord {
namespace {

constexpr std::string_view past_prefix = "past_key_values";
constexpr std::string_view present_prefix = "present";

struct Step {
  std::map<std::string, Tensor> inputs;
  std::vector<std::pair<std::size_t, std::string>> caches;  // output's number, input's name
};

std::string past_name(const std::string& present) {
  return std::string(past_prefix) + present.substr(present_prefix.size());
}

Tensor filled(std::int64_t count, std::int64_t value) {
  Tensor tensor = Tensor::zeros(DataType::i64, {1, count});
  std::ranges::fill(tensor.as_mutable<std::int64_t>(), value);
  return tensor;
}

// An empty cache of `length` positions for every past* input; the other inputs come per step.
Step start(const graph::Graph& graph, std::int64_t length) {
  Step step;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.value(id);
    if (!value.name.starts_with(past_prefix)) {
      continue;
    }
    Shape shape{1, 0, length, 0};
    for (const std::size_t axis : {std::size_t{1}, std::size_t{3}}) {
      shape[axis] = value.shape->at(axis).constant().value();
    }
    step.inputs.emplace(value.name, Tensor::zeros(DataType::f32, shape));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& name = graph.value(graph.outputs[i]).name;
    if (name.starts_with(present_prefix)) {
      step.caches.emplace_back(i, past_name(name));
    }
  }
  return step;
}

double milliseconds_of(Session& session, Step& step, std::int64_t length, bool has_positions) {
  step.inputs["input_ids"] = filled(1, 1 + length % 1000);
  step.inputs["attention_mask"] = filled(length + 1, 1);
  if (has_positions) {
    step.inputs["position_ids"] = filled(1, length);
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Tensor> outputs = session.run(step.inputs);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  for (const auto& [output, input] : step.caches) {
    step.inputs[input] = std::move(outputs[output]);
  }
  return took.count();
}

int measure(const std::string& path, const std::string& spec, std::int64_t from, std::int64_t to,
            int repeats) {
  const auto model = importer::load(path);
  Session session(model.graph, spec);
  const graph::Graph& graph = session.imported();
  const bool has_positions = std::ranges::any_of(
      graph.inputs, [&](graph::ValueId id) { return graph.value(id).name == "position_ids"; });
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Step step = start(graph, from - 1);
    std::vector<double> ms;
    milliseconds_of(session, step, from - 1, has_positions);
    for (std::int64_t length = from; length < to; ++length) {
      ms.push_back(milliseconds_of(session, step, length, has_positions));
    }
    const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / double(ms.size());
    std::ranges::nth_element(ms, ms.begin() + std::ptrdiff_t(ms.size() / 2));
    std::printf("median %.3f mean %.3f\n", ms[ms.size() / 2], mean);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace concord

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "decode_steps MODEL.onnx SPEC FROM TO [REPEATS]\n");
    return 2;
  }
  try {
    return concord::measure(argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]),
                            argc > 5 ? std::atoi(argv[5]) : 3);
  } catch (const concord::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
