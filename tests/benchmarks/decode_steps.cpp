// Time per token of a decoder whose cache grows: every present* output becomes the past* input of
// the next step, as a program that generates text does it.
//
//   decode_steps [--bound] MODEL.onnx SPEC FROM TO [REPEATS]
//
// With --bound the session keeps the caches (Session::bind_state) and appends to them.
// Tokens are fixed numbers, not chosen: only time is measured. Prints per repeat the median and the
// mean in ms over the steps FROM..TO of the cache's length, after one step that is not counted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "backends/session.h"
#include "graph/error.h"
#include "importer/importer.h"

namespace concord {
namespace {

constexpr std::string_view past_prefix = "past_key_values";
constexpr std::string_view present_prefix = "present";

struct Cache {
  std::size_t output;  // its number
  std::string output_name, input_name;
};

struct Step {
  std::map<std::string, Tensor> inputs;
  std::vector<Cache> caches;  // that are handed on here
};

std::string past_name(const std::string& present) {
  return std::string(past_prefix) + present.substr(present_prefix.size());
}

Tensor filled(std::int64_t count, std::int64_t value) {
  Tensor tensor = Tensor::zeros(DataType::i64, {1, count});
  std::ranges::fill(tensor.as_mutable<std::int64_t>(), value);
  return tensor;
}

std::vector<Cache> caches_of(const graph::Graph& graph) {
  std::vector<Cache> caches;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& name = graph.value(graph.outputs[i]).name;
    if (name.starts_with(present_prefix)) caches.push_back({i, name, past_name(name)});
  }
  return caches;
}

// A cache of `length` zeros for every past* input; the other inputs come per step.
Step start(Session& session, std::int64_t length, bool bound) {
  const graph::Graph& graph = session.imported();
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
    const Tensor zeros = Tensor::zeros(value.dtype, shape);
    if (bound) {
      session.set_state(value.name, zeros);
    } else {
      step.inputs.emplace(value.name, zeros);
    }
  }
  if (!bound) step.caches = caches_of(graph);
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
  for (const Cache& cache : step.caches) {
    step.inputs[cache.input_name] = std::move(outputs[cache.output]);
  }
  return took.count();
}

int measure(const std::string& path, const std::string& spec, std::int64_t from, std::int64_t to,
            int repeats, bool bound) {
  const auto model = importer::load(path);
  Session session(model.graph, spec);
  const graph::Graph& graph = session.imported();
  if (bound) {
    for (const Cache& cache : caches_of(graph)) {
      session.bind_state(cache.output_name, cache.input_name);
    }
  }
  const bool has_positions = std::ranges::any_of(
      graph.inputs, [&](graph::ValueId id) { return graph.value(id).name == "position_ids"; });
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Step step = start(session, from - 1, bound);
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
  const bool bound = argc > 1 && std::string_view(argv[1]) == "--bound";
  const std::vector<const char*> args(argv + (bound ? 2 : 1), argv + argc);
  if (args.size() < 4) {
    std::fprintf(stderr, "decode_steps [--bound] MODEL.onnx SPEC FROM TO [REPEATS]\n");
    return 2;
  }
  try {
    return concord::measure(args[0], args[1], std::atoll(args[2]), std::atoll(args[3]),
                            args.size() > 4 ? std::atoi(args[4]) : 3, bound);
  } catch (const concord::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
