#include <map>

#include "graph/ops/einsum_equation.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const EinsumEquation equation = parse_einsum(in.attrs().text("equation"));
  if (equation.operands.size() != in.input_count()) {
    mismatch(std::to_string(equation.operands.size()) + " inputs for '" +
                 in.attrs().text("equation") + "'",
             std::to_string(in.input_count()));
  }
  std::map<char, Dim> extent;
  SymShape ellipsis;
  for (std::size_t i = 0; i < in.input_count(); ++i) {
    in.require_same_type(0, i);
    if (!in.shape(i)) {
      in.output(0, in.dtype(0));
      return;
    }
    const SymShape shape = *in.shape(i);
    const std::string& letters = equation.operands[i];
    const bool dots = letters.find('.') != std::string::npos;
    const std::size_t named = letters.size() - (dots ? 1 : 0);
    if (shape.size() < named || (!dots && shape.size() != named)) {
      mismatch("rank " + std::to_string(named) + " for '" + letters + "'", in.describe_input(i));
    }
    std::size_t at = 0;
    for (const char c : letters) {
      if (c == '.') {
        const std::size_t width = shape.size() - named;
        const auto first = shape.begin() + static_cast<std::ptrdiff_t>(at);
        ellipsis =
            broadcast_shapes(ellipsis, SymShape(first, first + static_cast<std::ptrdiff_t>(width)));
        at += width;
        continue;
      }
      const auto [it, fresh] = extent.emplace(c, shape[at]);
      if (!fresh) it->second = Dim::broadcast(it->second, shape[at]);
      ++at;
    }
  }
  SymShape y;
  for (const char c : equation.result) {
    if (c == '.') {
      y.insert(y.end(), ellipsis.begin(), ellipsis.end());
    } else if (const auto it = extent.find(c); it != extent.end()) {
      y.push_back(it->second);
    } else {
      mismatch("a result of letters that operands have", "'" + std::string(1, c) + "'");
    }
  }
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

EinsumEquation parse_einsum(const std::string& text) {
  EinsumEquation e;
  std::string current;
  bool arrow = false;
  const auto finish = [&] {
    e.operands.push_back(current);
    current.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == ',' && !arrow) {
      finish();
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>' && !arrow) {
      finish();
      arrow = true;
      ++i;
    } else if (text.compare(i, 3, "...") == 0 && current.find('.') == std::string::npos) {
      current += '.';
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      current += c;
    } else {
      mismatch("an einsum equation of letters, commas, '...' and '->'", "'" + text + "'");
    }
  }
  if (arrow) {
    e.result = current;
    return e;
  }
  finish();
  // Without an arrow: the ellipsis, then the letters that occur once, sorted.
  std::map<char, int> seen;
  for (const std::string& operand : e.operands) {
    for (const char c : operand) ++seen[c];
  }
  if (seen.contains('.')) e.result = ".";
  for (const auto& [c, times] : seen) {
    if (c != '.' && times == 1) e.result += c;
  }
  return e;
}

const OpSchema schema_einsum{1, -1, 1, 1, infer_op};

}  // namespace concord::graph
