#pragma once

#include <optional>
#include <string>

#include "backends/backend.h"
#include "tests/ops/op_case.h"

namespace concord::ops_test {

struct Outcome {
  std::optional<std::string> unsupported;  // the backend's reason
  std::string failure;                     // empty: every element within its budget
};

// Runs the case on the backend and judges its outputs by the oracle. Runs twice, once with every
// value tapped: both must give the same bits. Where only a run can tell the outputs' extents, a
// session runs it, whoever carries it out there.
Outcome run_case(Backend& backend, graph::OpKind op, const OpCase& op_case);

}  // namespace concord::ops_test
