#include "graph/passes/activation.h"

namespace concord::graph {

bool is_activation(const Node& node) {
  const auto fn = unary_fn(&node);
  if (!fn) return false;
  switch (*fn) {
    case UnaryFn::relu:
    case UnaryFn::leaky_relu:
    case UnaryFn::elu:
    case UnaryFn::gelu_erf:
    case UnaryFn::gelu_tanh:
    case UnaryFn::quick_gelu:
    case UnaryFn::silu:
    case UnaryFn::sigmoid:
    case UnaryFn::hard_sigmoid:
    case UnaryFn::hard_swish:
    case UnaryFn::tanh:
      return true;
    default:
      return false;
  }
}

}  // namespace concord::graph
