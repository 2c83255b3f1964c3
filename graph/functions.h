#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace concord::graph {

enum class UnaryFn : std::uint8_t {
#define CONCORD_UNARY(name) name,
#include "graph/functions.def"
#undef CONCORD_UNARY
};

enum class BinaryFn : std::uint8_t {
#define CONCORD_BINARY(name) name,
#include "graph/functions.def"
#undef CONCORD_BINARY
};

enum class ReduceFn : std::uint8_t {
#define CONCORD_REDUCE(name) name,
#include "graph/functions.def"
#undef CONCORD_REDUCE
};

std::string_view to_string(UnaryFn fn);
std::string_view to_string(BinaryFn fn);
std::string_view to_string(ReduceFn fn);
std::optional<UnaryFn> parse_unary(std::string_view name);
std::optional<BinaryFn> parse_binary(std::string_view name);
std::optional<ReduceFn> parse_reduce(std::string_view name);

bool yields_bool(UnaryFn fn);   // is_nan, is_inf
bool yields_bool(BinaryFn fn);  // comparisons (logical functions keep bool)

}  // namespace concord::graph
