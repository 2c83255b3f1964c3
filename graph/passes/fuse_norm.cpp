#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// mean over the last axes, kept as extents of 1: the first of them.
std::optional<std::int64_t> mean_axis(const Rewriter& rw, const Node* node) {
  if (node == nullptr || node->op != OpKind::reduce || node->attrs.text("fn") != "mean" ||
      node->attrs.integer("keepdims") == 0) {
    return std::nullopt;
  }
  const auto rank = rank_of(rw.graph(), node->input(0));
  const auto& axes = node->attrs.integers("axes");
  if (!rank || axes.empty()) return std::nullopt;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] != *rank - static_cast<std::int64_t>(axes.size() - k)) return std::nullopt;
  }
  return axes.front();
}

struct Norm {
  ValueId x;
  std::int64_t axis = 0;
  double epsilon = 0;
  bool centred = false;
  NodeId root;
  std::vector<NodeId> absorbed;
  ValueId gamma;
  ValueId beta;
};

// The value times 1/√v, from v = variance + ε onwards: the last node.
NodeId scaled_by_root(Rewriter& rw, ValueId variance, ValueId d, std::vector<NodeId>& absorbed) {
  const NodeId first = rw.only_user(variance);
  if (!first.valid()) return {};
  const Node& node = rw.node(first);
  ValueId inverse;
  if (is_unary(&node, UnaryFn::rsqrt)) {
    inverse = node.output();
  } else if (is_binary(&node, BinaryFn::pow) && node.input(0) == variance &&
             scalar_constant(rw.graph(), node.input(1)) == -0.5) {
    inverse = node.output();
  } else if (is_unary(&node, UnaryFn::sqrt) ||
             (is_binary(&node, BinaryFn::pow) && node.input(0) == variance &&
              scalar_constant(rw.graph(), node.input(1)) == 0.5)) {
    absorbed.push_back(first);
    const ValueId deviation = node.output();
    const NodeId second = rw.only_user(deviation);
    if (!second.valid()) return {};
    const Node& divide = rw.node(second);
    if (is_binary(&divide, BinaryFn::div) && divide.input(0) == d && divide.input(1) == deviation) {
      return second;
    }
    const bool inverts = is_unary(&divide, UnaryFn::reciprocal) ||
                         (is_binary(&divide, BinaryFn::div) && divide.input(1) == deviation &&
                          scalar_constant(rw.graph(), divide.input(0)) == 1.0);
    if (!inverts) return {};
    absorbed.push_back(second);
    inverse = divide.output();
  } else {
    return {};
  }
  if (absorbed.empty() || absorbed.back() != rw.producer_id(inverse)) {
    absorbed.push_back(rw.producer_id(inverse));
  }
  const NodeId last = rw.only_user(inverse);
  if (!last.valid()) return {};
  const Node& mul = rw.node(last);
  return is_binary(&mul, BinaryFn::mul) && other_input(mul, inverse) == d ? last : NodeId{};
}

std::optional<Norm> match(Rewriter& rw, NodeId id) {
  const Node& mean = rw.node(id);
  const auto axis = mean_axis(rw, &mean);
  if (!axis || !is_float(rw.value(mean.output()).dtype)) return std::nullopt;
  const Node* square = unary_producer(rw, mean.input(0), UnaryFn::square);
  if (square == nullptr) return std::nullopt;
  Norm norm;
  norm.axis = *axis;
  norm.x = square->input(0);
  norm.absorbed = {id, rw.producer_id(mean.input(0))};
  ValueId variance = mean.output();
  if (const NodeId add = rw.only_user(variance); add.valid()) {
    const auto shifted = shifted_by(rw.graph(), rw.node(add));
    if (shifted && shifted->base == variance && shifted->offset >= 0) {
      norm.epsilon = shifted->offset;
      norm.absorbed.push_back(add);
      variance = rw.node(add).output();
    }
  }
  norm.root = scaled_by_root(rw, variance, norm.x, norm.absorbed);
  if (!norm.root.valid() || !same_shape(rw.graph(), norm.x, rw.node(norm.root).output())) {
    return std::nullopt;
  }
  if (const Node* sub = binary_producer(rw, norm.x, BinaryFn::sub)) {
    const Node* centre = rw.producer(sub->input(1));
    if (mean_axis(rw, centre) == axis && centre->input(0) == sub->input(0)) {
      norm.absorbed.push_back(rw.producer_id(norm.x));
      norm.absorbed.push_back(rw.producer_id(sub->input(1)));
      norm.x = sub->input(0);
      norm.centred = true;
    }
  }
  return norm;
}

// 16-bit models normalise in float32: x and the result are cast around it.
void absorb_casts(Rewriter& rw, Norm& norm) {
  const Node* widen = rw.producer(norm.x, OpKind::cast);
  const NodeId user = rw.only_user(rw.node(norm.root).output());
  if (widen == nullptr || !user.valid() || rw.node(user).op != OpKind::cast) return;
  const DataType narrow = rw.value(widen->input(0)).dtype;
  const bool fits = (narrow == DataType::f16 || narrow == DataType::bf16) &&
                    rw.value(norm.x).dtype == DataType::f32 &&
                    rw.node(user).attrs.dtype("to") == narrow;
  if (!fits) return;
  norm.absorbed.push_back(norm.root);
  norm.absorbed.push_back(rw.producer_id(norm.x));
  norm.x = widen->input(0);
  norm.root = user;
}

// A constant over the normalised axes; its view with their rank.
ValueId parameter(Rewriter& rw, const Norm& norm, ValueId id) {
  const Value& value = rw.value(id);
  const auto& x = rw.value(norm.x).shape;
  if (!value.constant || !value.shape || !x || value.dtype != rw.value(norm.x).dtype) return {};
  const std::size_t wanted = x->size() - static_cast<std::size_t>(norm.axis);
  if (value.shape->size() < wanted) return {};
  const std::size_t lead = value.shape->size() - wanted;
  for (std::size_t k = 0; k < lead; ++k) {
    if (!(*value.shape)[k].is_constant(1)) return {};
  }
  for (std::size_t k = 0; k < wanted; ++k) {
    if (!((*value.shape)[lead + k] == (*x)[static_cast<std::size_t>(norm.axis) + k])) return {};
  }
  if (lead == 0) return id;
  const Tensor t = *value.constant;
  const std::string name = value.name;
  const ValueId view = rw.add_constant(
      name,
      t.reshaped(Shape(t.shape().begin() + static_cast<std::ptrdiff_t>(lead), t.shape().end())));
  return view;
}

void absorb_parameters(Rewriter& rw, Norm& norm) {
  const NodeId mul = rw.only_user(rw.node(norm.root).output());
  if (!mul.valid() || !is_binary(&rw.node(mul), BinaryFn::mul)) return;
  const ValueId out = rw.node(norm.root).output();
  norm.gamma = parameter(rw, norm, other_input(rw.node(mul), out));
  if (!norm.gamma.valid()) return;
  norm.absorbed.push_back(norm.root);
  norm.root = mul;
  if (!norm.centred) return;
  const ValueId scaled = rw.node(mul).output();
  const NodeId add = rw.only_user(scaled);
  if (!add.valid() || !is_binary(&rw.node(add), BinaryFn::add)) return;
  norm.beta = parameter(rw, norm, other_input(rw.node(add), scaled));
  if (!norm.beta.valid()) return;
  norm.absorbed.push_back(norm.root);
  norm.root = add;
}

bool fuse(Rewriter& rw, NodeId id) {
  auto norm = match(rw, id);
  if (!norm) return false;
  absorb_casts(rw, *norm);
  absorb_parameters(rw, *norm);
  Node node;
  node.op = norm->centred ? OpKind::layer_norm : OpKind::rms_norm;
  node.inputs = {norm->x};
  if (norm->gamma.valid()) node.inputs.push_back(norm->gamma);
  if (norm->beta.valid()) node.inputs.push_back(norm->beta);
  node.attrs = Attributes{{"axis", norm->axis}, {"epsilon", norm->epsilon}};
  rw.replace(norm->root, std::move(node), norm->absorbed);
  return true;
}

}  // namespace

int fuse_norm(Graph& graph, const PassOptions&) {
  return rewrite_each(graph, fuse);
}

}  // namespace concord::graph
