#include "parity/worker_json.h"

#include <nlohmann/json.hpp>

#include "graph/error.h"

namespace concord::parity {

using nlohmann::json;

json to_json(const WorkerJob& job) {
  json j = {{"model", job.model.string()},
            {"spec", job.spec},
            {"disabled_passes", job.disabled_passes},
            {"allow_fallback", job.allow_fallback},
            {"exact", job.exact},
            {"ranks", job.ranks}};
  if (job.external_root) j["external_root"] = job.external_root->string();
  return j;
}

WorkerJob job_from_json(const json& j) {
  WorkerJob job;
  job.model = j.at("model").get<std::string>();
  job.spec = j.at("spec").get<std::string>();
  job.disabled_passes = j.at("disabled_passes").get<std::set<std::string>>();
  job.allow_fallback = j.at("allow_fallback").get<bool>();
  job.exact = j.at("exact").get<bool>();
  job.ranks = j.at("ranks").get<std::vector<std::int64_t>>();
  if (j.contains("external_root")) job.external_root = j["external_root"].get<std::string>();
  return job;
}

json to_json(const WorkerReady& ready) {
  json fallbacks = json::array();
  for (const WorkerFallback& f : ready.fallbacks) {
    fallbacks.push_back({{"node", f.node},
                         {"name", f.name},
                         {"op", f.op},
                         {"reason", f.reason},
                         {"by_nature", f.by_nature}});
  }
  return {{"load_ms", ready.load_ms},
          {"compile_ms", ready.compile_ms},
          {"backend", ready.backend},
          {"version", ready.version},
          {"device",
           {{"index", ready.device.index},
            {"name", ready.device.name},
            {"driver", ready.device.driver},
            {"type", ready.device.type},
            {"memory_bytes", ready.device.memory_bytes},
            {"units", ready.device.units}}},
          {"fallbacks", fallbacks}};
}

WorkerReady ready_from_json(const json& j) {
  WorkerReady ready;
  ready.load_ms = j.at("load_ms").get<double>();
  ready.compile_ms = j.at("compile_ms").get<double>();
  ready.backend = j.at("backend").get<std::string>();
  ready.version = j.at("version").get<std::string>();
  const json& d = j.at("device");
  ready.device = {d.at("index").get<int>(),
                  d.at("name").get<std::string>(),
                  d.at("driver").get<std::string>(),
                  d.at("type").get<std::string>(),
                  d.at("memory_bytes").get<std::uint64_t>(),
                  d.at("units").get<int>()};
  for (const json& f : j.at("fallbacks")) {
    ready.fallbacks.push_back({f.at("node").get<int>(), f.at("name").get<std::string>(),
                               f.at("op").get<std::string>(), f.at("reason").get<std::string>(),
                               f.at("by_nature").get<bool>()});
  }
  return ready;
}

json to_json(const WorkerStep& step) {
  return {{"path", step.path},
          {"node", step.node},
          {"backend", step.backend},
          {"kernel", step.kernel},
          {"operand", std::string(to_string(step.precision.operand))},
          {"accumulate", std::string(to_string(step.precision.accumulate))},
          {"store", std::string(to_string(step.precision.store))},
          {"tf32", step.precision.tf32},
          {"flops", step.flops},
          {"bytes", step.bytes},
          {"ms", step.ms}};
}

WorkerStep step_from_json(const json& j) {
  const auto dtype = [&j](const char* key) {
    return parse_dtype(j.at(key).get<std::string>()).value_or(DataType::undefined);
  };
  WorkerStep step;
  step.path = j.at("path").get<BodyPath>();
  step.node = j.at("node").get<int>();
  step.backend = j.at("backend").get<std::string>();
  step.kernel = j.at("kernel").get<std::string>();
  step.precision = {dtype("operand"), dtype("accumulate"), dtype("store"),
                    j.at("tf32").get<bool>()};
  step.flops = j.at("flops").get<double>();
  step.bytes = j.at("bytes").get<double>();
  step.ms = j.at("ms").get<double>();
  return step;
}

json to_json(const WorkerMemory& memory) {
  return {{"peak_bytes", memory.peak_bytes},
          {"weights", memory.planned.weights},
          {"activations", memory.planned.activations},
          {"naive", memory.planned.naive}};
}

WorkerMemory memory_from_json(const json& j) {
  return {j.at("peak_bytes").get<std::int64_t>(),
          {j.at("weights").get<std::int64_t>(), j.at("activations").get<std::int64_t>(),
           j.at("naive").get<std::int64_t>()}};
}

json to_json(const Error& error) {
  return {
      {"error", error.what()}, {"hint", error.hint()}, {"kind", static_cast<int>(error.kind())}};
}

void throw_from_json(const json& j) {
  throw Error(static_cast<ErrorKind>(j.at("kind").get<int>()), j.at("error").get<std::string>(),
              j.at("hint").get<std::string>());
}

}  // namespace concord::parity
