#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void require_container(const Inference& in) {
  if (!is_container(in.dtype(0))) mismatch("a sequence or an optional", in.describe_input(0));
}

std::optional<Dim> length(const Inference& in) {
  return in.shape(0) && in.shape(0)->size() == 1 ? std::optional(in.shape(0)->front())
                                                 : std::nullopt;
}

// An item's type and shape. Of an item that is a sequence itself, the rank is known.
void output_item(Inference& in) {
  const DataType type = item_type(in.dtype(0));
  if (is_container(type)) {
    in.output(0, type, in.dynamic_shape(0, 1));
  } else {
    in.output(0, type);
  }
}

void infer_make(Inference& in) {
  const DataType type = in.attrs().dtype("to");
  if (!is_container(type)) mismatch("a container", std::string(concord::to_string(type)));
  for (std::size_t i = 0; i < in.input_count(); ++i) in.require_type(i, item_type(type));
  in.output(0, type, SymShape{Dim(static_cast<std::int64_t>(in.input_count()))});
}

// A sequence whose number of items differs by one.
void infer_edit(Inference& in, std::int64_t more) {
  const auto before = length(in);
  in.output(0, in.dtype(0), SymShape{before ? *before + Dim(more) : in.dynamic(0, 0, "items")});
}

void infer_concat(Inference& in) {
  in.output(0, item_type(in.dtype(0)));
}

void infer_split(Inference& in) {
  const DataType type = sequence_of(in.dtype(0));
  std::optional<Dim> parts;
  if (in.has(1)) {
    in.require_integer(1);
    if (in.rank(1) == 1) parts = in.shape(1)->front();
  } else if (in.rank(0)) {
    const auto axis = static_cast<std::size_t>(in.axis("axis", *in.rank(0)));
    parts = (*in.shape(0))[axis];
  }
  in.output(0, type, SymShape{parts ? *parts : in.dynamic(0, 0, "items")});
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const std::string& fn = in.attrs().text("fn");
  if (fn == "make") return infer_make(in);
  if (fn == "split") return infer_split(in);
  require_container(in);
  if (fn == "at") {
    output_item(in);
  } else if (fn == "insert") {
    in.require_type(1, item_type(in.dtype(0)));
    infer_edit(in, 1);
  } else if (fn == "erase") {
    infer_edit(in, -1);
  } else if (fn == "concat") {
    infer_concat(in);
  } else {
    mismatch("make, at, insert, erase, concat or split", fn);
  }
}

}  // namespace

const OpSchema schema_sequence{0, -1, 1, 1, infer_op};

}  // namespace concord::graph
