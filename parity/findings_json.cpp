#include "parity/findings_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace concord::parity {
namespace {

using nlohmann::json;

json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

}  // namespace

json to_json(const ToggleReport& toggle) {
  json result = {{"name", toggle.name},
                 {"verdict", std::string(to_string(toggle.verdict))},
                 {"squared_error", number(toggle.squared_error)},
                 {"removed", number(toggle.removed)},
                 {"worst_budget", number(toggle.worst_budget)},
                 {"cures", toggle.cures}};
  if (!toggle.error.empty()) result["error"] = toggle.error;
  return result;
}

json to_json(const MinimalReport& minimal) {
  if (!minimal.error.empty()) {
    return {{"signature", minimal.signature}, {"tried", minimal.tried}, {"error", minimal.error}};
  }
  return {{"folder", minimal.folder},  {"signature", minimal.signature},
          {"nodes", minimal.nodes},    {"steps", minimal.steps},
          {"tried", minimal.tried},    {"keeps_cures", minimal.keeps_cures},
          {"command", minimal.command}};
}

json to_json(const DeterminismCheck& check) {
  json result = {
      {"name", check.name}, {"same", check.same}, {"runs", check.runs}, {"differ", check.differ}};
  if (!check.first_step.empty()) result["first_step"] = check.first_step;
  if (!check.note.empty()) result["note"] = check.note;
  return result;
}

json to_json(const DecodeReport& decode) {
  json drift = json::array();
  json largest = json::array();
  for (const double v : decode.drift) drift.push_back(number(v));
  for (const double v : decode.largest) largest.push_back(number(v));
  json result = {{"drift", drift}, {"largest", largest}, {"other_tokens", decode.other_tokens}};
  if (decode.first_difference) {
    result["first_difference"] = {{"step", *decode.first_difference},
                                  {"token", decode.token},
                                  {"reference_token", decode.reference_token},
                                  {"margin", number(decode.margin)},
                                  {"own_margin", number(decode.own_margin)}};
  }
  if (!decode.error.empty()) result["error"] = decode.error;
  return result;
}

}  // namespace concord::parity
