#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const Tensor value = in.attrs().tensor("value");  // absorbing moves the attributes
  if (value.count() != 1) mismatch("a value of one element", std::to_string(value.count()));
  if (in.has(0)) {
    in.require_integer(0);
    in.require_rank(0, 1);
    if (!in.absorb_dims(0, "shape")) {
      const auto length = in.shape(0) ? in.shape(0)->front().constant() : std::nullopt;
      if (length && *length <= 64) {
        in.output(0, value.dtype(), in.dynamic_shape(0, *length));
      } else {
        in.output(0, value.dtype());
      }
      return;
    }
  }
  const SymShape shape = in.attrs().dims("shape");
  Contents contents;
  const auto fixed = static_shape(shape);
  if (fixed && !is_float(value.dtype()) && value.dtype() != DataType::string &&
      holds_contents(value.dtype())) {
    const std::int64_t count = element_count(*fixed);
    if (count <= kMaxContents) {
      contents = std::vector<Dim>(static_cast<std::size_t>(count), Dim(value.at_int(0)));
    }
  }
  in.output(0, value.dtype(), shape, std::move(contents));
}

}  // namespace

const OpSchema schema_constant_of{0, 1, 1, 1, infer_op};

}  // namespace concord::graph
