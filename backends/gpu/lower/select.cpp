#include "backends/gpu/lower/emit.h"

namespace concord::gpu {

const Lowering gpu_select{
    [](const Query& query) -> std::optional<std::string> {
      if (query.out() == DataType::undefined) return std::nullopt;
      return query.need_kernel(std::string("select_") + move_suffix(query.out()));
    },
    [](NodeLowering& node) { emit_select(node, node.in(0), node.in(1), node.in(2), node.out()); }};

}  // namespace concord::gpu
