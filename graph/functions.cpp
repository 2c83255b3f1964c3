#include "graph/functions.h"

#include <array>

namespace concord::graph {
namespace {

constexpr std::array kUnaryNames = {
#define CONCORD_UNARY(name) std::string_view(#name),
#include "graph/functions.def"
#undef CONCORD_UNARY
};
constexpr std::array kBinaryNames = {
#define CONCORD_BINARY(name) std::string_view(#name),
#include "graph/functions.def"
#undef CONCORD_BINARY
};
constexpr std::array kReduceNames = {
#define CONCORD_REDUCE(name) std::string_view(#name),
#include "graph/functions.def"
#undef CONCORD_REDUCE
};

template <typename Fn, std::size_t N>
std::optional<Fn> parse(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Fn>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(UnaryFn fn) {
  return kUnaryNames[static_cast<std::size_t>(fn)];
}
std::string_view to_string(BinaryFn fn) {
  return kBinaryNames[static_cast<std::size_t>(fn)];
}
std::string_view to_string(ReduceFn fn) {
  return kReduceNames[static_cast<std::size_t>(fn)];
}
std::optional<UnaryFn> parse_unary(std::string_view n) {
  return parse<UnaryFn>(kUnaryNames, n);
}
std::optional<BinaryFn> parse_binary(std::string_view n) {
  return parse<BinaryFn>(kBinaryNames, n);
}
std::optional<ReduceFn> parse_reduce(std::string_view n) {
  return parse<ReduceFn>(kReduceNames, n);
}

bool yields_bool(UnaryFn fn) {
  return fn == UnaryFn::is_nan || fn == UnaryFn::is_inf;
}

bool yields_bool(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::equal:
    case BinaryFn::greater:
    case BinaryFn::greater_equal:
    case BinaryFn::less:
    case BinaryFn::less_equal:
      return true;
    default:
      return false;
  }
}

}  // namespace concord::graph
