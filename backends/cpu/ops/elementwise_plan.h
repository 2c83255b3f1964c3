#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/planner.h"
#include "graph/functions.h"

namespace concord::cpu {

// Operand numbers as in ElementStep: appends the steps that compute a scalar function of operand a
// (and b), the last of them the result. False if the kernels do not have the function. is_inf
// counts −inf if alpha is not 0 and +inf if beta is not 0.
bool append_unary(graph::UnaryFn fn, double alpha, double beta, int a, int inputs,
                  std::vector<ElementStep>& steps);
bool append_binary(graph::BinaryFn fn, int a, int b, int inputs, std::vector<ElementStep>& steps);

// Types that an elementwise program reads, and writes.
bool readable(DataType dtype);
bool writable(DataType dtype);

// Emits one pass of the program over these inputs of the node (all of them if none are listed),
// broadcast to its output. Inputs that lie in one permuted order (an image whose channels are last)
// are walked in that order.
void plan_elementwise(Planner& p, const std::shared_ptr<const ElementProgram>& program,
                      std::string_view name, double flops_per_element,
                      std::vector<int> inputs = {});

// An operand in memory with strides of the output's shape.
struct Broadcast {
  Ref at;
  Dims strides;
};
// Axes from the outermost to the innermost in memory, if the view fills memory densely in some
// order that is not the row-major one.
std::optional<std::vector<int>> permuted_order(const View& view);
// The view's strides against the output's shape, aligned at the last axis.
Dims broadcast_to(const View& view, const Dims& shape);

// Emits a pass of the program over dense f32 memory in place: operand 0 is the value that changes,
// the others are broadcast.
void plan_in_place(Planner& p, const std::shared_ptr<const ElementProgram>& program,
                   const Dims& shape, Ref target, const std::vector<Broadcast>& others);

}  // namespace concord::cpu
