#pragma once

#include <span>
#include <vector>

#include "backends/reference/kernel.h"

namespace concord::reference {

// Runs a body of a control-flow node; its own dynamic extents do not leave it.
std::vector<OracleValue> run_body(const Call& call, const graph::Graph& body,
                                  std::span<const OracleValue> inputs);

// The only element of a bool operand. Throws Error(invalid) if it holds more or fewer.
bool is_true(const Call& call, std::size_t operand);
bool is_true(const OracleValue& condition, const std::string& name);

// No slices at all of what a body's output would be, scanned along an axis.
OracleValue no_slices(const Call& call, const graph::Graph& body, graph::ValueId output,
                      std::size_t axis);

}  // namespace concord::reference
