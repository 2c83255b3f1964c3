#include <map>

#include "graph/extent_collector.h"
#include "graph/ops/einsum_equation.h"

namespace concord::graph {

void ExtentCollector::conv() {
  const SymShape* x = shape_(0);
  const SymShape* w = shape_(1);
  if (x == nullptr || w == nullptr || x->size() < 3 || w->size() != x->size()) return;
  add(Kind::equal, (*x)[1], (*w)[1] * Dim(node_.attrs.integer("group")),
      "the channels of x and group × those of w");
  if (const SymShape* bias = ranked(2, 1)) {
    add(Kind::equal, bias->front(), (*w)[0], "the bias and the output channels of w");
  }
}

void ExtentCollector::conv_transpose() {
  const SymShape* x = shape_(0);
  const SymShape* w = shape_(1);
  if (x == nullptr || w == nullptr || x->size() < 3 || w->size() != x->size()) return;
  add(Kind::equal, (*x)[1], (*w)[0], "the channels of x and of w");
  if (const SymShape* bias = ranked(2, 1)) {
    add(Kind::equal, bias->front(), (*w)[1] * Dim(node_.attrs.integer("group")),
        "the bias and group × the output channels of w");
  }
}

void ExtentCollector::matmul() {
  const SymShape* a = shape_(0);
  const SymShape* b = shape_(1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return;
  const Dim& inner_a = (*a)[a->size() - (node_.attrs.integer("trans_a", 0) != 0 ? 2 : 1)];
  const Dim& inner_b = (*b)[b->size() - (node_.attrs.integer("trans_b", 0) != 0 ? 1 : 2)];
  add(Kind::equal, inner_a, inner_b,
      "the inner extents of " + concord::to_string(*a) + " and " + concord::to_string(*b));
  aligned(a, b, Kind::broadcast, 2);
}

void ExtentCollector::einsum() {
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

}  // namespace concord::graph
