#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_type(0, DataType::string);
  const std::string& change = in.attrs().text("case");
  if (change != "none" && change != "lower" && change != "upper") {
    mismatch("none, lower or upper", change);
  }
  if (!in.rank(0)) return in.output(0, DataType::string);
  if (*in.rank(0) < 1 || *in.rank(0) > 2) mismatch("rank 1 or 2", in.describe_input(0));
  SymShape shape = *in.shape(0);
  if (in.attrs().tensor("stopwords").count() > 0) {
    shape.back() = in.dynamic(0, shape.size() - 1, "words");
  }
  in.output(0, DataType::string, std::move(shape));
}

}  // namespace

const OpSchema schema_string_normalize{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
