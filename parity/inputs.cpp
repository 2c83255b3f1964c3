#include "parity/inputs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "graph/error.h"
#include "graph/shape_ties.h"
#include "parity/index_bounds.h"
#include "parity/random.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Value;
using graph::ValueId;

bool has_word(const std::string& name, std::initializer_list<const char*> words) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return lower.find(word) != std::string::npos; });
}

std::int64_t default_extent(const std::string& symbol) {
  if (has_word(symbol, {"batch"})) return 1;
  if (has_word(symbol, {"channel"})) return 3;
  if (has_word(symbol, {"height", "width"}) || symbol == "h" || symbol == "w") return 64;
  if (has_word(symbol, {"past"})) return 8;
  return 16;
}

// Symbols that other symbols usually make up come last, so that ties decide them.
int rank_of(const std::string& symbol) {
  if (has_word(symbol, {"total"})) return 2;
  return has_word(symbol, {"past"}) ? 1 : 0;
}

// The extent of `symbol` if its name says that it is the sum of two others: total_seq is past_seq +
// seq, though indexing a mask does not tie their extents.
std::optional<std::int64_t> named_total(const std::string& symbol, const Bindings& dims) {
  if (!has_word(symbol, {"total"})) return std::nullopt;
  std::optional<std::int64_t> past;
  std::optional<std::int64_t> fresh;
  for (const auto& [name, extent] : dims) {
    if (has_word(name, {"past"})) {
      past = extent;
    } else if (has_word(name, {"seq"}) && !has_word(name, {"total"})) {
      fresh = extent;
    }
  }
  return past && fresh ? std::optional(*past + *fresh) : std::nullopt;
}

void check_set(const Graph& graph, const Bindings& set) {
  const std::vector<std::string> symbols = graph.input_symbols();
  for (const auto& [name, extent] : set) {
    if (std::find(symbols.begin(), symbols.end(), name) == symbols.end()) {
      std::string known;
      for (const std::string& symbol : symbols) known += (known.empty() ? "" : ", ") + symbol;
      throw Error(ErrorKind::usage, "the model has no symbolic dimension '" + name + "'",
                  known.empty() ? "all of its dimensions are fixed" : "it has " + known);
    }
    if (extent < 0) {
      throw Error(ErrorKind::usage, "dimension '" + name + "' cannot be " + std::to_string(extent),
                  "give zero or a positive number");
    }
  }
}

std::int64_t past_extent(const Bindings& dims) {
  for (const auto& [name, extent] : dims) {
    if (has_word(name, {"past"}) && name.find('+') == std::string::npos) return extent;
  }
  return 0;
}

class Generator {
 public:
  Generator(const Graph& graph, const Bindings& dims, std::uint64_t seed)
      : graph_(graph), dims_(dims), random_(seed) {}

  Tensor make(const Value& value, ValueId id) {
    if (is_container(value.dtype)) {
      throw Error(ErrorKind::usage,
                  "input '" + value.name + "' is " + std::string(to_string(value.dtype)) +
                      ", for which no values are generated",
                  "give it with --inputs: a folder with input_N.pb in ONNX's layout");
    }
    const auto shape = evaluate(value.shape.value_or(SymShape{}), dims_);
    if (!shape) {
      throw Error(
          ErrorKind::usage,
          "input '" + value.name + "' has a dimension that is not set: " + to_string(*value.shape),
          "set it with --set NAME=N");
    }
    Tensor tensor(value.dtype, *shape);
    if (value.dtype == DataType::string) return tensor;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      put(tensor, i, is_float(value.dtype) ? real(value) : whole(value, id, tensor, i));
    }
    return tensor;
  }

 private:
  double real(const Value& value) {
    const double drawn = random_.normal();
    if (has_word(value.name, {"mask"})) return 1.0;
    return drawn;
  }

  double whole(const Value& value, ValueId id, const Tensor& tensor, std::int64_t i) {
    const std::uint64_t drawn = random_.next();
    if (value.dtype == DataType::boolean) return 1;
    if (has_word(value.name, {"mask"})) return 1;
    if (tensor.count() == 1 && (value.name == "sr" || has_word(value.name, {"sample_rate"}))) {
      return 16000;
    }
    if (has_word(value.name, {"seqlens_k"})) return static_cast<double>(total() - 1);
    if (has_word(value.name, {"total_sequence_length", "total_seq_len"})) {
      return static_cast<double>(total());
    }
    const std::optional<std::int64_t> bound = index_bound(graph_, id);
    if (has_word(value.name, {"position"})) {
      const std::int64_t length = tensor.rank() == 0 ? 1 : tensor.shape().back();
      const std::int64_t position = past_extent(dims_) + i % std::max<std::int64_t>(length, 1);
      return static_cast<double>(bound ? std::min(position, *bound - 1) : position);
    }
    if (has_word(value.name, {"length", "_len"})) return static_cast<double>(total());
    if (bound && *bound > 0) {
      return static_cast<double>(drawn % static_cast<std::uint64_t>(*bound));
    }
    return static_cast<double>(drawn % 8);
  }

  // Positions that a decoder attends to: past and new ones.
  std::int64_t total() const {
    std::int64_t total = past_extent(dims_);
    for (const auto& [name, extent] : dims_) {
      if (has_word(name, {"total"})) return extent;
      if (has_word(name, {"seq"}) && !has_word(name, {"past"})) total += extent;
    }
    return total;
  }

  static void put(Tensor& tensor, std::int64_t index, double number) {
    std::byte* p = tensor.mutable_data();
    const int width = bits(tensor.dtype());
    const std::uint64_t raw = is_float(tensor.dtype())
                                  ? float_to_bits(tensor.dtype(), number)
                                  : static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    if (width >= 8) {
      const auto bytes = static_cast<std::size_t>(width / 8);
      std::memcpy(p + static_cast<std::size_t>(index) * bytes, &raw,
                  std::min<std::size_t>(bytes, 8));
      return;
    }
    const std::int64_t bit = index * width;
    const auto mask = static_cast<unsigned>((1u << width) - 1u) << (bit % 8);
    const auto old = std::to_integer<unsigned>(p[bit / 8]);
    p[bit / 8] =
        static_cast<std::byte>((old & ~mask) | ((static_cast<unsigned>(raw) << (bit % 8)) & mask));
  }

  const Graph& graph_;
  const Bindings& dims_;
  Random random_;
};

}  // namespace

Bindings choose_dims(const Graph& model, const Bindings& set) {
  check_set(model, set);
  const std::vector<graph::ShapeTie> ties = graph::shape_ties(model);
  Bindings dims = set;
  std::vector<std::string> open = model.input_symbols();
  std::stable_sort(open.begin(), open.end(), [](const std::string& a, const std::string& b) {
    return rank_of(a) < rank_of(b);
  });
  while (true) {
    graph::solve_ties(ties, dims);
    std::erase_if(open, [&](const std::string& symbol) { return dims.contains(symbol); });
    if (open.empty()) break;
    dims[open.front()] = named_total(open.front(), dims).value_or(default_extent(open.front()));
  }
  if (const auto problem = graph::contradiction(ties, dims)) {
    throw Error(ErrorKind::usage, "the dimensions contradict each other: " + *problem,
                "change or leave out one of the --set options");
  }
  return dims;
}

std::vector<Tensor> generate_inputs(const Graph& graph, const Bindings& dims, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  std::uint64_t stream = 0;
  for (const ValueId id : graph.inputs) {
    // A stream per input: one more input does not change the others.
    Generator generator(graph, dims, seed * 0x9E3779B97F4A7C15u + ++stream);
    inputs.push_back(generator.make(graph.value(id), id));
  }
  return inputs;
}

}  // namespace concord::parity
