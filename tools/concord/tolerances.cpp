#include "tools/concord/tolerances.h"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "graph/error.h"

namespace concord::tools {
namespace {

constexpr const char* kHint = R"(write {"OUTPUT": {"atol": 1e-4, "rtol": 1e-3}, "*": {...}})";

parity::Tolerance tolerance_of(const nlohmann::json& json, const std::string& where) {
  if (!json.is_object() || json.empty()) {
    throw Error(ErrorKind::invalid, where + " is no object with atol or rtol", kHint);
  }
  parity::Tolerance tolerance;
  for (const auto& [key, number] : json.items()) {
    if (key != "atol" && key != "rtol") {
      throw Error(ErrorKind::invalid, where + " has '" + key + "', which is not known", kHint);
    }
    const double value = number.is_number() ? number.get<double>() : -1;
    if (!std::isfinite(value) || value < 0) {
      throw Error(ErrorKind::invalid,
                  where + ": " + key + " is " + number.dump() + ", not a number from 0 on", kHint);
    }
    (key == "atol" ? tolerance.atol : tolerance.rtol) = value;
  }
  return tolerance;
}

}  // namespace

Tolerances read_tolerances(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorKind::usage, "--tolerance: '" + path + "' cannot be read", kHint);
  const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object() || json.empty()) {
    throw Error(ErrorKind::invalid, path + ": is no JSON object of outputs", kHint);
  }
  Tolerances tolerances;
  for (const auto& [name, value] : json.items()) {
    const parity::Tolerance tolerance = tolerance_of(value, path + ": '" + name + "'");
    if (name == "*") {
      tolerances.others = tolerance;
    } else {
      tolerances.outputs[name] = tolerance;
    }
  }
  return tolerances;
}

}  // namespace concord::tools
