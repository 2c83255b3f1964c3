#pragma once

#include <map>
#include <optional>
#include <string>

#include "parity/judge.h"

namespace concord::tools {

struct Tolerances {
  std::map<std::string, parity::Tolerance> outputs;  // by the output's name
  std::optional<parity::Tolerance> others;
};

// Reads a JSON object of output names to {"atol": A, "rtol": R}, of which one may be missing (0);
// "*" stands for the outputs that are not named. Numbers are finite and at least 0. Throws Error
// that names the file and the output.
Tolerances read_tolerances(const std::string& path);

}  // namespace concord::tools
