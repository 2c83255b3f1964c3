#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

// Numbers that follow from the extents: uploaded with the plan.
void lower(NodeLowering& node) {
  const Shape values = node.dims("values");
  const Operand integers = node.plan_constant(Tensor::from_ints(values));
  node.alias(0, emit_cast(node, integers, node.out_type()));
}

}  // namespace

const Lowering gpu_dims{[](const Query& query) -> std::optional<std::string> {
                          if (query.out() == DataType::undefined) return std::nullopt;
                          return why_no_cast(query, DataType::i32, query.out());
                        },
                        lower};

}  // namespace concord::gpu
