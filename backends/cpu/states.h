#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "backends/cpu/program.h"

namespace concord::cpu {

// Marks a graph input and a graph output as one state of the layout, if every plan can keep them in
// one place: the output is the input with something appended (or scattered into it), nothing else
// reads the input, and what reads the output computes the same whatever its strides. Else returns
// why not.
std::optional<std::string> mark_state(const graph::Graph& graph, ProgramLayout& layout,
                                      std::size_t input, std::size_t output);

}  // namespace concord::cpu
