// Operands are contracted two at a time, from left to right: each pair becomes a batch of matrix
// products, or a product of elements where nothing is summed.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/reduce.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

// A letter, or for an ellipsis −1 for its last axis, −2 for the one before, …
using Label = int;
using Labels = std::vector<Label>;

struct Equation {
  std::vector<std::string> operands;  // '.' stands for an ellipsis
  std::string result;
  bool has_result = false;
};

Equation parse(const std::string& text) {
  Equation equation;
  std::string current;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      equation.operands.push_back(current);
      current.clear();
    } else if (text[i] == '-') {
      equation.operands.push_back(current);
      current.clear();
      equation.has_result = true;
      ++i;
    } else if (text[i] == '.') {
      current += '.';
      i += 2;
    } else if (text[i] != ' ') {
      current += text[i];
    }
  }
  (equation.has_result ? equation.result : equation.operands.emplace_back()) = current;
  return equation;
}

Labels labels_of(const std::string& letters, std::size_t rank) {
  Labels labels;
  const bool dots = letters.find('.') != std::string::npos;
  const auto width = static_cast<int>(rank) - static_cast<int>(letters.size() - (dots ? 1 : 0));
  for (const char c : letters) {
    if (c != '.') labels.push_back(c);
    for (int i = width; c == '.' && i > 0; --i) labels.push_back(-i);
  }
  return labels;
}

// Without a result in the equation: the ellipsis, then the letters that occur once, sorted.
Labels result_labels(const Equation& equation, const std::vector<Labels>& operands) {
  int width = 0;
  std::map<Label, int> seen;
  for (const Labels& labels : operands) {
    for (const Label label : labels) {
      width = std::max(width, -label);
      if (label > 0) ++seen[label];
    }
  }
  Labels result;
  const auto add_dots = [&] {
    for (int i = width; i > 0; --i) result.push_back(-i);
  };
  if (equation.has_result) {
    for (const char c : equation.result) {
      if (c == '.') add_dots();
      if (c != '.') result.push_back(c);
    }
    return result;
  }
  add_dots();
  for (const auto& [label, times] : seen) {
    if (times == 1) result.push_back(label);
  }
  return result;
}

// An operand by its labels: strides in elements, 0 where it is broadcast.
struct Term {
  Operand operand;
  std::map<Label, std::int64_t> strides;
};

bool has(const Term& term, Label label) {
  return term.strides.contains(label);
}

class Contraction {
 public:
  explicit Contraction(NodeLowering& node) : node_(node) {
    const Equation equation = parse(node.attrs().text("equation"));
    std::vector<Labels> labels;
    for (std::size_t i = 0; i < equation.operands.size(); ++i) {
      labels.push_back(labels_of(equation.operands[i], node.in_shape(i).size()));
      const Shape shape = node.in_shape(i);
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        std::int64_t& extent = extents_.emplace(labels[i][axis], shape[axis]).first->second;
        if (extent == 1) extent = shape[axis];
      }
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      terms_.push_back(term_of(node.in(i), labels[i]));
    }
    result_ = result_labels(equation, labels);
  }

  void run() {
    while (terms_.size() > 1) {
      const Term b = terms_[1];
      terms_.erase(terms_.begin() + 1);
      std::set<Label> kept(result_.begin(), result_.end());
      for (std::size_t i = 1; i < terms_.size(); ++i) {
        for (const auto& [label, stride] : terms_[i].strides) kept.insert(label);
      }
      terms_[0] = contract(terms_[0], b, kept);
    }
    const Operand y = node_.out();
    if (y.count() == 0) return;
    const Term whole = summed(terms_[0], [this](Label label) {
      return std::ranges::find(result_, label) != result_.end();
    });
    emit_copy(node_, whole.operand, y,
              {shape_of(result_), strides_of(whole, result_), contiguous_strides(y.shape), 0, 0});
  }

 private:
  // A letter that occurs twice takes the diagonal.
  Term term_of(const Operand& operand, const Labels& labels) const {
    Term term{operand, {}};
    const Shape own = contiguous_strides(operand.shape);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::int64_t extent = extents_.at(labels[i]);
      const bool broadcast = operand.shape[i] == 1 && extent != 1;
      if (operand.shape[i] != extent && !broadcast) {
        throw Error(ErrorKind::invalid, "operands of einsum with extents " +
                                            std::to_string(operand.shape[i]) + " and " +
                                            std::to_string(extent) + " for one letter");
      }
      term.strides[labels[i]] += broadcast ? 0 : own[i];
    }
    return term;
  }

  Shape shape_of(const Labels& labels) const {
    Shape shape;
    for (const Label label : labels) shape.push_back(extents_.at(label));
    return shape;
  }
  static Shape strides_of(const Term& term, const Labels& labels) {
    Shape strides;
    for (const Label label : labels)
      strides.push_back(has(term, label) ? term.strides.at(label) : 0);
    return strides;
  }
  std::int64_t count_of(const Labels& labels) const { return element_count(shape_of(labels)); }

  // The term's elements, dense in the order of these labels.
  Operand arranged(const Term& term, const Labels& labels) {
    const Shape shape = shape_of(labels);
    const Shape strides = strides_of(term, labels);
    if (term.operand.count() == element_count(shape) && strides == contiguous_strides(shape)) {
      return NodeLowering::view(term.operand, shape);
    }
    Operand y = node_.temporary(term.operand.dtype, shape);
    emit_copy(node_, term.operand, y, {shape, strides, contiguous_strides(shape), 0, 0});
    return y;
  }

  Term dense(const Operand& operand, const Labels& labels) const {
    Term term{operand, {}};
    const Shape strides = contiguous_strides(shape_of(labels));
    for (std::size_t i = 0; i < labels.size(); ++i) term.strides[labels[i]] = strides[i];
    return term;
  }

  // Summed over the labels for which `keep` is false.
  template <class Keep>
  Term summed(const Term& term, Keep&& keep) {
    Labels kept;
    Labels gone;
    for (const auto& [label, stride] : term.strides) (keep(label) ? kept : gone).push_back(label);
    if (gone.empty()) return term;
    Labels all = kept;
    all.insert(all.end(), gone.begin(), gone.end());
    const Operand x = arranged(term, all);
    const Operand y = node_.temporary(x.dtype, shape_of(kept));
    emit_reduce(node_, "sum", x, {count_of(kept), count_of(gone), 1}, y);
    return dense(y, kept);
  }

  Term contract(const Term& left, const Term& right, const std::set<Label>& kept) {
    // What only one of them has, and nobody wants, is summed first.
    const Term a = summed(left, [&](Label l) { return kept.contains(l) || has(right, l); });
    const Term b = summed(right, [&](Label l) { return kept.contains(l) || has(left, l); });
    Labels batch;
    Labels rows;
    Labels inner;
    Labels columns;
    for (const auto& [label, stride] : a.strides) {
      (!has(b, label) ? rows : kept.contains(label) ? batch : inner).push_back(label);
    }
    for (const auto& [label, stride] : b.strides) {
      if (!has(a, label)) columns.push_back(label);
    }
    const std::int64_t m = count_of(rows);
    const std::int64_t n = count_of(columns);
    const std::int64_t k = count_of(inner);
    const std::int64_t batches = count_of(batch);
    const Operand x = arranged(a, joined({batch, rows, inner}));
    const Operand w = arranged(b, joined({batch, inner, columns}));
    const Labels result = joined({batch, rows, columns});
    const Operand y = node_.temporary(x.dtype, shape_of(result));
    const bool single = m == 1 && n == 1;
    if (inner.empty() || single) {
      multiply(x, w, NodeLowering::view(y, {batches, m, n}), k);
    } else {
      MatmulProblem p;
      p.a = x;
      p.b = w;
      p.c = y;
      p.m = m;
      p.n = n;
      p.k = k;
      p.a_row = k;
      p.b_row = n;
      p.c_row = n;
      p.batch = {batches};
      p.a_batch = {m * k};
      p.b_batch = {k * n};
      p.c_batch = {m * n};
      emit_matmul(node_, p);
    }
    return dense(y, result);
  }

  // y [batches, m, n] = x [batches, m] w [batches, n], or with m = n = 1 sums over k.
  void multiply(const Operand& x, const Operand& w, const Operand& y, std::int64_t k) {
    const std::int64_t batches = y.shape[0];
    if (k == 1) {
      return emit_binary(node_, graph::BinaryFn::mul,
                         NodeLowering::view(x, {batches, y.shape[1], 1}),
                         NodeLowering::view(w, {batches, 1, y.shape[2]}), y);
    }
    const Operand products = node_.temporary(x.dtype, {batches, k});
    emit_binary(node_, graph::BinaryFn::mul, NodeLowering::view(x, {batches, k}),
                NodeLowering::view(w, {batches, k}), products);
    emit_reduce(node_, "sum", products, {batches, k, 1}, y);
  }

  static Labels joined(const std::vector<Labels>& parts) {
    Labels all;
    for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  NodeLowering& node_;
  std::map<Label, std::int64_t> extents_;
  std::vector<Term> terms_;
  Labels result_;
};

std::optional<std::string> why(const Query& query) {
  for (std::size_t i = 0; i < query.node.inputs.size(); ++i) {
    const std::int64_t rank = query.in_rank(i);
    if (rank < 0 || rank > static_cast<std::int64_t>(kMaxAxes)) return "more than 6 axes";
  }
  const DataType type = query.in(0);
  if (type == DataType::undefined) return std::nullopt;
  if (auto reason = why_no_matmul(query, type)) return reason;
  if (auto reason = why_no_reduce(query, "sum", type)) return reason;
  return why_no_binary(query, graph::BinaryFn::mul, type);
}

}  // namespace

const Lowering gpu_einsum{why, [](NodeLowering& node) { Contraction(node).run(); }};

}  // namespace concord::gpu
