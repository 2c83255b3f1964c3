#include "graph/extent_rules.h"

#include <algorithm>
#include <map>

#include "graph/error.h"
#include "graph/ops/einsum_equation.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

using Kind = ExtentRule::Kind;

std::string input_text(std::size_t i) {
  return "input " + std::to_string(i);
}

class Collector {
 public:
  Collector(const Node& node, const ShapeOf& shape) : node_(node), shape_(shape) {}

  std::vector<ExtentRule> collect() {
    switch (node_.op) {
      case OpKind::attention:
        attention();
        break;
      case OpKind::binary:
      case OpKind::elementwise:
      case OpKind::select:
        broadcast_all();
        break;
      case OpKind::broadcast:
        if (node_.attrs.has("shape"))
          aligned(shape_(0), &node_.attrs.dims("shape"), Kind::broadcast);
        break;
      case OpKind::concat:
        concat();
        break;
      case OpKind::conv:
        conv();
        break;
      case OpKind::conv_transpose:
        conv_transpose();
        break;
      case OpKind::einsum:
        einsum();
        break;
      case OpKind::gather_elements:
        elements();
        break;
      case OpKind::gather_nd:
        gather_nd();
        break;
      case OpKind::group_norm:
        channels(1);
        channels(2);
        break;
      case OpKind::gru:
        recurrent(3);
        break;
      case OpKind::layer_norm:
      case OpKind::rms_norm:
        for (std::size_t i = 1; i < node_.inputs.size(); ++i) fits_first(i);
        break;
      case OpKind::lstm:
        recurrent(4);
        break;
      case OpKind::matmul:
      case OpKind::matmul_integer:
        matmul();
        break;
      case OpKind::one_hot:
        if (const SymShape* values = ranked(2, 1)) {
          add(Kind::equal, values->front(), 2, "the values off and on");
        }
        break;
      case OpKind::reshape:
        if (const SymShape* x = shape_(0); x != nullptr && node_.attrs.has("shape")) {
          add(Kind::equal, product(*x), product(node_.attrs.dims("shape")),
              "the elements before and after");
        }
        break;
      case OpKind::reverse_sequence:
        reverse_sequence();
        break;
      case OpKind::rnn:
        recurrent(1);
        break;
      case OpKind::rotary:
        rotary();
        break;
      case OpKind::scatter_elements:
        scatter_elements();
        break;
      case OpKind::scatter_nd:
        scatter_nd();
        break;
      case OpKind::split:
        split();
        break;
      case OpKind::top_k:
        top_k();
        break;
      default:
        break;
    }
    return std::move(rules_);
  }

 private:
  void add(Kind kind, const Dim& a, const Dim& b, std::string what) {
    if (!(a == b)) rules_.push_back({kind, a, b, std::move(what)});
  }

  // The input's shape if it is known; its rank must be `rank`.
  const SymShape* ranked(std::size_t i, std::size_t rank) const {
    const SymShape* shape = shape_(i);
    if (shape != nullptr && shape->size() != rank) {
      mismatch("rank " + std::to_string(rank) + " of " + input_text(i), concord::to_string(*shape));
    }
    return shape;
  }

  // Axes aligned at the end; `skip` trailing axes are left out.
  void aligned(const SymShape* a, const SymShape* b, Kind kind, std::size_t skip = 0) {
    if (a == nullptr || b == nullptr) return;
    for (std::size_t i = skip + 1; i <= std::min(a->size(), b->size()); ++i) {
      const Dim& from_a = (*a)[a->size() - i];
      const Dim& from_b = (*b)[b->size() - i];
      if (from_a == from_b) continue;
      add(kind, from_a, from_b,
          concord::to_string(*a) + " and " + concord::to_string(*b) + ", which must broadcast");
    }
  }

  void broadcast_all() {
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      for (std::size_t j = i + 1; j < node_.inputs.size(); ++j) {
        aligned(shape_(i), shape_(j), Kind::broadcast);
      }
    }
  }

  // Input i broadcasts to the shape of input 0.
  void fits_first(std::size_t i) {
    const SymShape* x = shape_(0);
    const SymShape* other = shape_(i);
    if (x == nullptr || other == nullptr) return;
    if (other->size() > x->size()) {
      mismatch(input_text(i) + " that broadcasts to " + concord::to_string(*x),
               concord::to_string(*other));
    }
    aligned(other, x, Kind::fits);
  }

  void concat() {
    const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
    const SymShape* first = shape_(0);
    for (std::size_t i = 1; first != nullptr && i < node_.inputs.size(); ++i) {
      const SymShape* other = shape_(i);
      if (other == nullptr || other->size() != first->size()) continue;
      for (std::size_t d = 0; d < first->size(); ++d) {
        if (d == axis) continue;
        add(Kind::equal, (*first)[d], (*other)[d],
            "axis " + std::to_string(d) + " of inputs 0 and " + std::to_string(i));
      }
    }
  }

  void conv() {
    const SymShape* x = shape_(0);
    const SymShape* w = shape_(1);
    if (x == nullptr || w == nullptr || x->size() < 3 || w->size() != x->size()) return;
    add(Kind::equal, (*x)[1], (*w)[1] * Dim(node_.attrs.integer("group")),
        "the channels of x and group × those of w");
    if (const SymShape* bias = ranked(2, 1)) {
      add(Kind::equal, bias->front(), (*w)[0], "the bias and the output channels of w");
    }
  }

  void conv_transpose() {
    const SymShape* x = shape_(0);
    const SymShape* w = shape_(1);
    if (x == nullptr || w == nullptr || x->size() < 3 || w->size() != x->size()) return;
    add(Kind::equal, (*x)[1], (*w)[0], "the channels of x and of w");
    if (const SymShape* bias = ranked(2, 1)) {
      add(Kind::equal, bias->front(), (*w)[1] * Dim(node_.attrs.integer("group")),
          "the bias and group × the output channels of w");
    }
  }

  void channels(std::size_t i) {
    const SymShape* x = shape_(0);
    const SymShape* of = ranked(i, 1);
    if (x == nullptr || of == nullptr || x->size() < 2) return;
    add(Kind::equal, of->front(), (*x)[1], input_text(i) + " and the channels of x");
  }

  void matmul() {
    const SymShape* a = shape_(0);
    const SymShape* b = shape_(1);
    if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return;
    const Dim& inner_a = (*a)[a->size() - (node_.attrs.integer("trans_a", 0) != 0 ? 2 : 1)];
    const Dim& inner_b = (*b)[b->size() - (node_.attrs.integer("trans_b", 0) != 0 ? 1 : 2)];
    add(Kind::equal, inner_a, inner_b,
        "the inner extents of " + concord::to_string(*a) + " and " + concord::to_string(*b));
    aligned(a, b, Kind::broadcast, 2);
  }

  void einsum() {
    const EinsumEquation equation = parse_einsum(node_.attrs.text("equation"));
    std::map<char, Dim> seen;
    SymShape ellipsis;
    for (std::size_t i = 0; i < node_.inputs.size() && i < equation.operands.size(); ++i) {
      const SymShape* shape = shape_(i);
      const std::string& letters = equation.operands[i];
      const std::size_t named = letters.size() - (letters.find('.') != std::string::npos ? 1 : 0);
      if (shape == nullptr || shape->size() < named) continue;
      std::size_t at = 0;
      for (const char c : letters) {
        if (c == '.') {
          const auto first = shape->begin() + static_cast<std::ptrdiff_t>(at);
          const SymShape part(first, first + static_cast<std::ptrdiff_t>(shape->size() - named));
          aligned(&part, &ellipsis, Kind::broadcast);
          if (part.size() > ellipsis.size()) ellipsis = part;
          at += part.size();
          continue;
        }
        const Dim& extent = (*shape)[at++];
        const auto [it, fresh] = seen.emplace(c, extent);
        if (fresh) continue;
        add(Kind::broadcast, it->second, extent, std::string("the axes named '") + c + "'");
        it->second = Dim::broadcast(it->second, extent);
      }
    }
  }

  // Indices reach into the data element by element: no axis of them but the one is longer.
  void elements() {
    const SymShape* data = shape_(0);
    if (data == nullptr) return;
    const SymShape* indices = ranked(1, data->size());
    const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
    for (std::size_t d = 0; indices != nullptr && d < data->size(); ++d) {
      if (d == axis) continue;
      add(Kind::at_most, (*indices)[d], (*data)[d],
          "axis " + std::to_string(d) + " of the indices and of the data");
    }
  }

  void same_shape(std::size_t i, std::size_t j, const char* what) {
    const SymShape* a = shape_(i);
    const SymShape* b = a != nullptr ? ranked(j, a->size()) : nullptr;
    for (std::size_t d = 0; b != nullptr && d < a->size(); ++d) {
      add(Kind::equal, (*a)[d], (*b)[d], "axis " + std::to_string(d) + what);
    }
  }

  void scatter_elements() {
    elements();
    same_shape(1, 2, " of the indices and of the updates");
  }

  void gather_nd() {
    const SymShape* data = shape_(0);
    const SymShape* indices = shape_(1);
    const auto batch = static_cast<std::size_t>(node_.attrs.integer("batch_dims"));
    if (data == nullptr || indices == nullptr) return;
    for (std::size_t d = 0; d < std::min({batch, data->size(), indices->size()}); ++d) {
      add(Kind::equal, (*indices)[d], (*data)[d],
          "batch axis " + std::to_string(d) + " of the indices and of the data");
    }
  }

  void scatter_nd() {
    const SymShape* data = shape_(0);
    const SymShape* indices = shape_(1);
    if (data == nullptr || indices == nullptr) return;
    if (indices->empty()) mismatch("indices of rank 1 or more", concord::to_string(*indices));
    const auto width = indices->back().constant();
    if (!width) return;
    if (*width < 1 || *width > static_cast<std::int64_t>(data->size())) {
      mismatch("index tuples of 1 to " + std::to_string(data->size()) + " coordinates",
               std::to_string(*width));
    }
    SymShape wanted(indices->begin(), indices->end() - 1);
    wanted.insert(wanted.end(), data->begin() + static_cast<std::ptrdiff_t>(*width), data->end());
    const SymShape* updates = ranked(2, wanted.size());
    for (std::size_t d = 0; updates != nullptr && d < wanted.size(); ++d) {
      add(Kind::equal, (*updates)[d], wanted[d],
          "axis " + std::to_string(d) + " of the updates and of " + concord::to_string(wanted));
    }
  }

  void reverse_sequence() {
    const SymShape* x = shape_(0);
    const SymShape* lengths = ranked(1, 1);
    const std::int64_t axis = node_.attrs.integer("batch_axis");
    if (x == nullptr || lengths == nullptr || axis < 0 ||
        axis >= static_cast<std::int64_t>(x->size())) {
      return;
    }
    add(Kind::equal, lengths->front(), (*x)[static_cast<std::size_t>(axis)],
        "the lengths and the batch axis of x");
  }

  void split() {
    const SymShape* x = shape_(0);
    const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
    if (x == nullptr || axis >= x->size() || !node_.attrs.has("sizes")) return;
    Dim sum(0);
    for (const Dim& size : node_.attrs.dims("sizes")) {
      add(Kind::at_most, 0, size, "0 and a part");
      sum = sum + size;
    }
    add(Kind::equal, sum, (*x)[axis], "the parts together and the axis");
  }

  void top_k() {
    const SymShape* x = shape_(0);
    const auto axis = static_cast<std::size_t>(node_.attrs.integer("axis"));
    if (x == nullptr || axis >= x->size() || !node_.attrs.has("k")) return;
    const AttrValue& k = *node_.attrs.find("k");
    const auto* dims = std::get_if<SymShape>(&k);
    if (dims == nullptr || dims->size() != 1) return;
    add(Kind::at_most, dims->front(), (*x)[axis], "k and the elements of the axis");
  }

  void recurrent(std::int64_t gates) {
    const SymShape* x = ranked(0, 3);
    const bool batch_first = node_.attrs.integer("layout", 0) != 0;
    const Dim hidden(node_.attrs.integer("hidden_size"));
    const Dim directions(node_.attrs.text("direction") == "bidirectional" ? 2 : 1);
    const Dim rows = Dim(gates) * hidden;
    const auto expect = [&](std::size_t i, const char* name, const SymShape& wanted) {
      const SymShape* found = ranked(i, wanted.size());
      for (std::size_t d = 0; found != nullptr && d < wanted.size(); ++d) {
        add(Kind::equal, (*found)[d], wanted[d],
            "axis " + std::to_string(d) + " of " + name + " and of " + concord::to_string(wanted));
      }
    };
    if (const SymShape* w = ranked(1, 3)) {
      expect(1, "w", {directions, rows, x != nullptr ? (*x)[2] : (*w)[2]});
    }
    expect(2, "r", {directions, rows, hidden});
    expect(3, "b", {directions, Dim(2) * rows});
    if (node_.op == OpKind::lstm) expect(7, "p", {directions, Dim(3) * hidden});
    if (x == nullptr) return;
    const Dim& batch = (*x)[batch_first ? 0 : 1];
    expect(4, "the sequence lengths", {batch});
    const SymShape state =
        batch_first ? SymShape{batch, directions, hidden} : SymShape{directions, batch, hidden};
    expect(5, "the initial state", state);
    if (node_.op == OpKind::lstm) expect(6, "the initial cell", state);
  }

  // Tables [B|1, S, width], or [rows, width] that positions [B|1, S] pick from.
  void rotary() {
    const SymShape* x = ranked(0, 4);
    const SymShape* table = shape_(1);
    if (x == nullptr || table == nullptr) return;
    if (table->size() < 2) mismatch("tables of rank 2 or 3", concord::to_string(*table));
    same_shape(1, 2, " of the tables of cosines and of sines");
    const Heads h = heads(*x, "layout");
    const std::int64_t given = node_.attrs.integer("rotary_dim", 0);
    if (given < 0) mismatch("a rotary_dim of 0 or more", std::to_string(given));
    const Dim rotated = given == 0 ? h.depth : Dim(given);
    add(Kind::at_most, rotated, h.depth, "rotary_dim and the depth of x");
    add(Kind::at_most, Dim::floor_div(rotated, 2), table->back(),
        "half of rotary_dim and the tables");
    const SymShape* positions = shape_(3);
    const SymShape& rows = positions != nullptr ? *positions : *table;
    const std::size_t inner = positions != nullptr ? 1 : 2;
    if (rows.size() < inner) mismatch("positions of rank 1 or 2", concord::to_string(rows));
    if (node_.has_input(3) && positions == nullptr) return;
    add(Kind::equal, rows[rows.size() - inner], h.seq, "the positions and the length of x");
    if (rows.size() > inner) {
      add(Kind::fits, rows[rows.size() - inner - 1], h.batch, "the positions and the batch of x");
    }
  }

  struct Heads {
    Dim batch, heads, seq, depth;
  };

  Heads heads(const SymShape& shape, const char* layout_name) const {
    const std::string layout = node_.attrs.text(layout_name, "bhsd");
    const auto at = [&](char letter) {
      const std::size_t place = layout.find(letter);
      return place < shape.size() ? shape[place] : Dim(1);
    };
    return {at('b'), at('h'), at('s'), at('d')};
  }

  void attention() {
    const SymShape* q_shape = ranked(0, 4);
    const SymShape* k_shape = ranked(1, 4);
    const SymShape* v_shape = ranked(2, 4);
    if (q_shape == nullptr || k_shape == nullptr || v_shape == nullptr) return;
    const Heads q = heads(*q_shape, "q_layout");
    const Heads k = heads(*k_shape, "k_layout");
    const Heads v = heads(*v_shape, "v_layout");
    add(Kind::broadcast, q.batch, k.batch, "the batches of q and k");
    add(Kind::broadcast, k.batch, v.batch, "the batches of k and v");
    add(Kind::equal, q.depth, k.depth, "the depths of q and k");
    add(Kind::equal, k.heads, v.heads, "the heads of k and v");
    add(Kind::equal, k.seq, v.seq, "the lengths of k and v");
    if (const SymShape* mask = shape_(3)) {
      const SymShape wanted{Dim::broadcast(q.batch, k.batch), q.heads, q.seq, k.seq};
      if (mask->size() > wanted.size()) {
        mismatch("a mask of rank 4 or less", concord::to_string(*mask));
      }
      aligned(mask, &wanted, Kind::fits);
    }
    if (const SymShape* lengths = ranked(4, 1)) {
      add(Kind::equal, lengths->front(), Dim::broadcast(q.batch, k.batch),
          "the key lengths and the batch");
    }
  }

  const Node& node_;
  const ShapeOf& shape_;
  std::vector<ExtentRule> rules_;
};

const char* wanted_text(Kind kind) {
  switch (kind) {
    case Kind::equal:
      return "equal";
    case Kind::broadcast:
      return "equal, or either 1";
    case Kind::fits:
      return "equal, or the first 1";
    case Kind::at_most:
      return "the first at most the second";
  }
  return "";
}

}  // namespace

bool ExtentRule::holds(std::int64_t x, std::int64_t y) const {
  switch (kind) {
    case Kind::equal:
      return x == y;
    case Kind::broadcast:
      return x == y || x == 1 || y == 1;
    case Kind::fits:
      return x == y || x == 1;
    case Kind::at_most:
      return x <= y;
  }
  return true;
}

std::vector<ExtentRule> extent_rules(const Node& node, const ShapeOf& shape) {
  return Collector(node, shape).collect();
}

void check_extents(const Node& node, const ShapeOf& shape) {
  for (const ExtentRule& rule : extent_rules(node, shape)) {
    const auto a = rule.a.constant();
    const auto b = rule.b.constant();
    if (!a || !b || rule.holds(*a, *b)) continue;
    mismatch(rule.what + " (" + wanted_text(rule.kind) + ")",
             std::to_string(*a) + " and " + std::to_string(*b));
  }
}

void check_extents(const Node& node, std::span<const Tensor> inputs) {
  std::vector<SymShape> shapes;
  for (const Tensor& tensor : inputs) {
    shapes.push_back(tensor.defined() ? SymShape(tensor.shape().begin(), tensor.shape().end())
                                      : SymShape{});
  }
  check_extents(node, [&](std::size_t i) {
    return i < inputs.size() && inputs[i].defined() ? &shapes[i] : nullptr;
  });
}

}  // namespace concord::graph
