#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "importer/conversion.h"

namespace concord::importer {

// Lowers one ONNX operator, in the opsets `since` to `until` of its domain, to core operators.
struct Converter {
  std::string_view domain;  // "" is ONNX's own
  std::string_view op;
  std::int64_t since;
  std::int64_t until;
  void (*convert)(Conversion& c);
};

constexpr std::int64_t kLatest = INT64_MAX;
constexpr std::string_view kOnnx = "";
constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::string_view kPreview = "ai.onnx.preview";

// The newest opset of ONNX's own domain and the newest IR that this program knows.
constexpr std::int64_t kNewestOpset = 27;
constexpr std::int64_t kNewestIr = 13;

const Converter* find_converter(std::string_view domain, std::string_view op, std::int64_t opset);
// Opset ranges in which there is a converter, for messages: "7 to 12".
std::optional<std::string> known_opsets(std::string_view domain, std::string_view op);
// Every converter, sorted by domain and name.
std::vector<Converter> all_converters();

// One list per file of importer/converters.
#define CONCORD_CONVERTERS(family) std::span<const Converter> family##_converters();
#include "importer/converters.def"
#undef CONCORD_CONVERTERS

}  // namespace concord::importer
