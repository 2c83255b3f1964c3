#include <cmath>

#include <nlohmann/json.hpp>

#include "parity/report.h"
#include "parity/worker_json.h"

namespace concord::parity {
namespace {

using nlohmann::json;

// JSON has no infinity and no NaN: they are written as strings.
json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

json numbers(const std::vector<double>& values) {
  json list = json::array();
  for (const double v : values) list.push_back(number(v));
  return list;
}

json to_json(const NonFinite& actual, const NonFinite& reference, bool nan) {
  if (nan) return {{"value", actual.nan}, {"reference", reference.nan}};
  return {{"value", {{"positive", actual.positive}, {"negative", actual.negative}}},
          {"reference", {{"positive", reference.positive}, {"negative", reference.negative}}}};
}

json to_json(const OutputReport& o) {
  const Metrics& m = o.metrics;
  json result = {{"name", o.name},
                 {"dtype", std::string(to_string(o.dtype))},
                 {"shape", o.shape},
                 {"verdict", std::string(to_string(o.verdict))},
                 {"note", o.note},
                 {"max_abs", number(m.max_abs)},
                 {"max_rel", number(m.max_rel)},
                 {"max_ulp", number(m.max_ulp)},
                 {"p99_ulp", number(m.p99_ulp)},
                 {"nmse", number(m.nmse)},
                 {"snr_db", number(m.snr_db)},
                 {"cosine", number(m.cosine)},
                 {"rms_error", number(m.rms_error)},
                 {"mismatched", m.mismatched},
                 {"nan", to_json(m.actual, m.reference, true)},
                 {"inf", to_json(m.actual, m.reference, false)}};
  if (m.top1) result["top1"] = *m.top1;
  if (m.top5) result["top5"] = *m.top5;
  if (o.expected_rms) result["expected_rms"] = number(*o.expected_rms);
  if (m.worst.index >= 0) {
    result["worst"] = {{"index", m.worst.index},
                       {"value", number(m.worst.value)},
                       {"reference", number(m.worst.reference)}};
  }
  return result;
}

json to_json(const StepReport& s) {
  json result = {{"path", s.path},
                 {"node", s.node},
                 {"op", s.op},
                 {"name", s.name},
                 {"members", s.members},
                 {"backend", s.backend},
                 {"kernel", s.kernel},
                 {"precision",
                  {{"operand", std::string(to_string(s.precision.operand))},
                   {"accumulate", std::string(to_string(s.precision.accumulate))},
                   {"store", std::string(to_string(s.precision.store))},
                   {"tf32", s.precision.tf32}}},
                 {"inputs", s.inputs},
                 {"outputs", s.outputs},
                 {"flops", s.flops},
                 {"bytes", s.bytes},
                 {"ms", s.ms}};
  if (s.bound != Bound::none) {
    result["lower_ms"] = s.lower_ms;
    result["bound"] = std::string(to_string(s.bound));
  }
  if (!s.judged) return result;
  result["verdict"] = std::string(to_string(s.verdict));
  result["worst_budget"] = number(s.worst_budget);
  result["max_abs"] = number(s.max_abs);
  result["max_ulp"] = number(s.max_ulp);
  result["over"] = s.over;
  if (s.worst.index >= 0) {
    result["worst"] = {{"index", s.worst.index},
                       {"value", number(s.worst.value)},
                       {"reference", number(s.worst.reference)},
                       {"around", numbers(s.around)},
                       {"around_reference", numbers(s.around_reference)}};
  }
  if (s.origin) {
    result["origin"] = {{"element", s.origin->element},
                        {"oracle", number(s.origin->oracle)},
                        {"operands", s.origin->operands}};
  }
  if (s.largest) {
    result["largest"] = number(*s.largest);
    result["headroom"] = number(s.headroom.value_or(0));
  }
  return result;
}

json to_json(const ParticipantReport& p) {
  json outputs = json::array();
  for (const OutputReport& o : p.outputs) outputs.push_back(to_json(o));
  json fallback = json::array();
  for (const WorkerFallback& f : p.fallbacks) {
    fallback.push_back(
        {{"node", f.name}, {"op", f.op}, {"reason", f.reason}, {"by_nature", f.by_nature}});
  }
  json result = {{"spec", p.spec},
                 {"device", p.device.name},
                 {"driver", p.device.driver},
                 {"version", p.version},
                 {"precision", p.precision},
                 {"verdict", std::string(to_string(p.verdict))},
                 {"outputs", outputs},
                 {"fallback", fallback}};
  if (!p.error.empty()) result["error"] = {{"message", p.error}, {"hint", p.hint}};
  if (!p.steps.empty()) {
    json steps = json::array();
    for (const StepReport& s : p.steps) steps.push_back(to_json(s));
    result["steps"] = std::move(steps);
  }
  if (p.taps_changed_outputs) result["taps_changed_outputs"] = *p.taps_changed_outputs;
  if (p.repeats_that_differ) {
    result["repeats"] = {{"runs", p.repeats}, {"differ", *p.repeats_that_differ}};
  }
  if (p.performance) {
    result["performance"] = to_json(*p.performance);
    if (!p.steps.empty()) result["performance"].erase("steps");  // they stand with the verdicts
  }
  return result;
}

json to_json(const Agreement& agreement) {
  json participants = json::array();
  for (std::size_t i = 0; i < agreement.participants.size(); ++i) {
    participants.push_back({{"spec", agreement.participants[i]}, {"class", agreement.classes[i]}});
  }
  json pairs = json::array();
  for (const AgreementPair& pair : agreement.pairs) {
    json item = {{"a", agreement.participants[static_cast<std::size_t>(pair.a)]},
                 {"b", agreement.participants[static_cast<std::size_t>(pair.b)]},
                 {"identical", pair.identical}};
    if (pair.ratio) item["ratio"] = number(*pair.ratio);
    pairs.push_back(std::move(item));
  }
  return {{"participants", std::move(participants)}, {"pairs", std::move(pairs)}};
}

json to_json(const BaselineReport& baseline) {
  json findings = json::array();
  for (const BaselineFinding& f : baseline.findings) {
    findings.push_back({{"model", f.model},
                        {"case", f.label},
                        {"spec", f.spec},
                        {"subject", std::string(to_string(f.subject))},
                        {"change", std::string(to_string(f.change))},
                        {"ratio", f.ratio},
                        {"text", f.text}});
  }
  return {{"path", baseline.path}, {"date", baseline.date}, {"findings", std::move(findings)}};
}

json to_json(const CaseReport& one) {
  json participants = json::array();
  for (const ParticipantReport& p : one.participants) participants.push_back(to_json(p));
  json result = {{"label", one.label},
                 {"data", one.data},
                 {"dims", one.dims},
                 {"reference", one.reference},
                 {"participants", std::move(participants)}};
  if (one.agreement) result["agreement"] = to_json(*one.agreement);
  if (one.calibration) result["noise"] = to_json(*one.calibration);
  if (!one.measuring_error.empty()) result["measuring_error"] = one.measuring_error;
  return result;
}

json to_json(const ModelReport& model) {
  json cases = json::array();
  for (const CaseReport& one : model.cases) cases.push_back(to_json(one));
  json result = {{"model",
                  {{"path", model.path},
                   {"sha256", model.sha256},
                   {"producer", model.producer},
                   {"opsets", model.opsets}}},
                 {"verdict", std::string(to_string(model.verdict()))},
                 {"cases", cases}};
  if (!model.error.empty()) result["error"] = {{"message", model.error}, {"hint", model.hint}};
  return result;
}

}  // namespace

// One model's members stand at the top, as the command line's contract has them; several stand
// in `models`.
std::string to_json_text(const Report& report, int indent) {
  json result = {{"schema", 1},
                 {"version", report.version},
                 {"date", report.date},
                 {"machine",
                  {{"processor", report.machine.processor},
                   {"cores", report.machine.cores},
                   {"memory_bytes", report.machine.memory_bytes},
                   {"system", report.machine.system}}},
                 {"skipped", report.skipped},
                 {"verdict", std::string(to_string(report.verdict()))}};
  if (report.baseline) result["baseline"] = to_json(*report.baseline);
  json models = json::array();
  for (const ModelReport& model : report.models) models.push_back(to_json(model));
  if (models.size() == 1) {
    result.update(models[0]);
  } else {
    result["models"] = std::move(models);
  }
  return result.dump(indent, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace concord::parity
