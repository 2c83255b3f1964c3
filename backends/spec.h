#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"

namespace concord {

// "cpu", "cpu:threads=1,precision=bf16", "vulkan:device=swiftshader".
struct BackendSpec {
  std::string text;     // as written
  std::string backend;  // "cpu"
  std::string device;   // selector, empty: the first
  CompileOptions options;
  bool fusion = true;
};

// Throws Error(usage) that lists the keys or values that are known.
BackendSpec parse_spec(const std::string& text);
// A list: an item that has '=' and no ':' before it belongs to the spec before.
std::vector<BackendSpec> parse_specs(const std::string& list);

}  // namespace concord
