#pragma once

#include <string>
#include <vector>

namespace concord::graph {

// "ij,jk->ik" taken apart: the letters of each operand and of the result, which is worked out where
// the equation leaves it out. '.' stands for an ellipsis.
struct EinsumEquation {
  std::vector<std::string> operands;
  std::string result;
};

// Throws Error(invalid) if the text is no equation.
EinsumEquation parse_einsum(const std::string& text);

}  // namespace concord::graph
