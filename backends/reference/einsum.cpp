#include <algorithm>
#include <map>
#include <string>

#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// Every axis of every operand by a label: letters, and numbers counted from the right for the axes
// that an ellipsis stands for.
struct Labels {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
  std::map<int, std::int64_t> extents;
};

constexpr int kEllipsis = 1000;

[[noreturn]] void bad(const std::string& equation, const std::string& why) {
  throw Error(ErrorKind::invalid, "einsum equation \"" + equation + "\" " + why);
}

// One term of an equation as labels; `dots`: the axes of its ellipsis.
std::vector<int> labels_of(const std::string& term, std::int64_t dots) {
  std::vector<int> labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      i += 2;
      for (std::int64_t d = dots; d-- > 0;) labels.push_back(kEllipsis + static_cast<int>(d));
    } else {
      labels.push_back(term[i]);
    }
  }
  return labels;
}

Labels parse(const Call& call) {
  std::string equation;
  for (const char c : call.attrs().text("equation")) {
    if (c != ' ') equation += c;
  }
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> terms{""};
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (terms.size() != call.inputs.size()) {
    bad(equation, "does not fit " + std::to_string(call.inputs.size()) + " operands");
  }
  Labels labels;
  std::int64_t most_dots = 0;
  std::map<int, int> uses;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const bool has_dots = terms[k].find("...") != std::string::npos;
    const auto letters = static_cast<std::int64_t>(terms[k].size()) - (has_dots ? 3 : 0);
    const std::int64_t dots = call.input(k).rank() - letters;
    if (dots < 0 || (dots > 0 && !has_dots)) {
      bad(equation, "does not fit operand " + std::to_string(k) + " of shape " +
                        to_string(std::span<const std::int64_t>(call.shape(k))));
    }
    most_dots = std::max(most_dots, dots);
    labels.operands.push_back(labels_of(terms[k], dots));
    for (std::size_t d = 0; d < labels.operands[k].size(); ++d) {
      const int label = labels.operands[k][d];
      ++uses[label];
      const std::int64_t extent = call.shape(k)[d];
      const auto [it, fresh] = labels.extents.emplace(label, extent);
      if (fresh || it->second == 1) {
        it->second = extent;
      } else if (extent != it->second && extent != 1) {
        bad(equation, "gives one letter the extents " + std::to_string(it->second) + " and " +
                          std::to_string(extent));
      }
    }
  }
  if (arrow != std::string::npos) {
    labels.result = labels_of(equation.substr(arrow + 2), most_dots);
    for (const int label : labels.result) {
      if (!labels.extents.contains(label)) bad(equation, "has a result of unknown letters");
    }
  } else {
    for (std::int64_t d = most_dots; d-- > 0;) {
      labels.result.push_back(kEllipsis + static_cast<int>(d));
    }
    for (const auto& [label, times] : uses) {
      if (label < kEllipsis && times == 1) labels.result.push_back(label);
    }
  }
  return labels;
}

// A walk over some labels: an extent and, per operand, the stride of each.
struct Walk {
  Shape extents;
  std::vector<Shape> strides;
  std::int64_t count() const { return element_count(extents); }
  std::int64_t offset(std::size_t operand, std::int64_t flat) const {
    std::int64_t offset = 0;
    for (std::size_t d = extents.size(); d-- > 0;) {
      offset += flat % extents[d] * strides[operand][d];
      flat /= extents[d];
    }
    return offset;
  }
};

Walk walk_over(const Call& call, const Labels& labels, const std::vector<int>& wanted) {
  Walk walk;
  for (const int label : wanted) walk.extents.push_back(labels.extents.at(label));
  for (std::size_t k = 0; k < labels.operands.size(); ++k) {
    const Shape dense = contiguous_strides(call.shape(k));
    Shape strides(wanted.size(), 0);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (std::size_t d = 0; d < dense.size(); ++d) {
        // A letter that occurs twice in one operand walks its diagonal.
        if (labels.operands[k][d] == wanted[i] && call.shape(k)[d] != 1) strides[i] += dense[d];
      }
    }
    walk.strides.push_back(std::move(strides));
  }
  return walk;
}

struct Plan {
  Walk outer;
  Walk inner;
  std::vector<std::vector<std::int64_t>> offsets;  // per operand, of each inner element
};

Plan plan(const Call& call) {
  const Labels labels = parse(call);
  std::vector<int> summed;
  for (const auto& [label, extent] : labels.extents) {
    if (std::find(labels.result.begin(), labels.result.end(), label) == labels.result.end()) {
      summed.push_back(label);
    }
  }
  Plan p{walk_over(call, labels, labels.result), walk_over(call, labels, summed), {}};
  const std::int64_t inner = p.inner.count();
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(inner));
    for (std::int64_t j = 0; j < inner; ++j) {
      offsets[static_cast<std::size_t>(j)] = p.inner.offset(k, j);
    }
    p.offsets.push_back(std::move(offsets));
  }
  return p;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Plan p = plan(call);
  const std::size_t operands = call.inputs.size();
  std::vector<const double*> data;
  double conversions = 0;
  for (std::size_t k = 0; k < operands; ++k) {
    data.push_back(call.data(k));
    if (operands > 1) conversions += call.conversion(k);
  }
  const std::int64_t inner = p.inner.count();
  Output<N> y(call, 0, p.outer.extents);
  parallel_for(y.count(), grain_for(4.0 * static_cast<double>(inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<std::int64_t> base(operands);
                 const auto value = [&](std::size_t k, std::int64_t j) {
                   return number<N>(data[k][base[k] + p.offsets[k][static_cast<std::size_t>(j)]]);
                 };
                 for (std::int64_t i = begin; i < end; ++i) {
                   for (std::size_t k = 0; k < operands; ++k) base[k] = p.outer.offset(k, i);
                   Sum<N> sum;
                   for (std::int64_t j = 0; j < inner; ++j) {
                     if (operands == 2) {
                       sum.add_product(value(0, j), value(1, j));
                       continue;
                     }
                     N product = value(0, j);
                     for (std::size_t k = 1; k < operands; ++k) product = product * value(k, j);
                     sum.add(product);
                   }
                   y.set(i, sum.result(static_cast<real_t<N>>(conversions)));
                 }
               });
  return {y.finish()};
}

OracleValue integers(const Call& call) {
  const Plan p = plan(call);
  Tensor y(call.input(0).dtype(), p.outer.extents);
  host::with_integer(y.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto to = host::raw_mutable<T>(y);
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::uint64_t sum = 0;
      for (std::int64_t j = 0; j < p.inner.count(); ++j) {
        std::uint64_t product = 1;
        for (std::size_t k = 0; k < call.inputs.size(); ++k) {
          const std::int64_t at = p.outer.offset(k, static_cast<std::int64_t>(i)) +
                                  p.offsets[k][static_cast<std::size_t>(j)];
          product *=
              static_cast<std::uint64_t>(host::raw<T>(call.input(k))[static_cast<std::size_t>(at)]);
        }
        sum += product;
      }
      to[i] = static_cast<T>(sum);
    }
  });
  return exact_output(call, 0, std::move(y));
}

std::vector<OracleValue> run(const Call& call) {
  if (!is_float(call.declared_input(0))) return {integers(call)};
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_einsum{run};

}  // namespace concord::reference
