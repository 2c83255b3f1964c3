#include "backends/spec.h"

#include <charconv>
#include <set>
#include <string_view>

#include "graph/error.h"

namespace concord {
namespace {

constexpr const char* kKeys = "device, threads, precision, fusion, isa, matmul, replay";

// Keys that mean something to a backend. A GPU's threads and instruction set are those of the CPU
// backend that takes what it cannot run.
constexpr struct {
  std::string_view backend;
  std::string_view keys;
} kKeysOf[] = {
    {"reference", ""},
    {"cpu", "device, threads, precision, fusion, isa, matmul"},
    {"vulkan", "device, threads, precision, fusion, isa, replay"},
    {"cuda", "device, threads, precision, fusion, isa, matmul, replay"},
};

// The keys that a spec of this backend may have; a backend that is not ours may have them all.
std::string_view keys_of(std::string_view backend) {
  for (const auto& known : kKeysOf) {
    if (known.backend == backend) return known.keys;
  }
  return kKeys;
}

[[noreturn]] void bad_value(const std::string& spec, const std::string& key,
                            const std::string& value, const std::string& known) {
  throw Error(ErrorKind::usage,
              "backend spec '" + spec + "': " + key + "=" + value + " is not known",
              "values of " + key + ": " + known);
}

bool parse_switch(const std::string& spec, const std::string& key, const std::string& value) {
  if (value == "on") return true;
  if (value == "off") return false;
  bad_value(spec, key, value, "on, off");
}

Precision parse_precision(const std::string& spec, const std::string& value) {
  for (const Precision p : {Precision::model, Precision::f32, Precision::tf32, Precision::bf16,
                            Precision::f16, Precision::int8}) {
    if (to_string(p) == value) return p;
  }
  bad_value(spec, "precision", value, "model, f32, tf32, bf16, f16, int8");
}

void set_key(BackendSpec& spec, const std::string& key, const std::string& value) {
  if (key == "device") {
    spec.device = value;
  } else if (key == "threads") {
    int threads = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
    if (error != std::errc{} || end != value.data() + value.size() || threads < 1 ||
        threads > 4096) {
      bad_value(spec.text, key, value, "1 to 4096");
    }
    spec.options.threads = threads;
  } else if (key == "precision") {
    spec.options.precision = parse_precision(spec.text, value);
  } else if (key == "fusion") {
    spec.fusion = parse_switch(spec.text, key, value);
  } else if (key == "isa") {
    if (value != "avx2" && value != "avx512" && value != "native") {
      bad_value(spec.text, key, value, "avx2, avx512, native");
    }
    spec.options.isa = value;
  } else if (key == "matmul") {
    if (value != "library" && value != "portable") {
      bad_value(spec.text, key, value, "library, portable");
    }
    spec.options.matmul = value == "library" ? MatmulSource::library : MatmulSource::portable;
  } else if (key == "replay") {
    spec.options.replay = parse_switch(spec.text, key, value);
  } else {
    throw Error(ErrorKind::usage, "backend spec '" + spec.text + "': unknown key '" + key + "'",
                std::string("known keys: ") + kKeys);
  }
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

}  // namespace

BackendSpec parse_spec(const std::string& text) {
  BackendSpec spec;
  spec.text = text;
  const std::size_t colon = text.find(':');
  spec.backend = text.substr(0, colon);
  if (spec.backend.empty()) {
    throw Error(ErrorKind::usage, "backend spec '" + text + "' names no backend",
                "write backend[:key=value[,key=value]], for example cpu:threads=1");
  }
  if (colon == std::string::npos) return spec;
  const std::string keys(keys_of(spec.backend));
  const std::string known =
      keys.empty() ? spec.backend + " has no keys" : "keys of " + spec.backend + ": " + keys;
  std::set<std::string> given;
  for (const std::string& item : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
      throw Error(ErrorKind::usage, "backend spec '" + text + "': '" + item + "' is not key=value",
                  known);
    }
    const std::string key = item.substr(0, equals);
    set_key(spec, key, item.substr(equals + 1));
    if (!given.insert(key).second) {
      throw Error(ErrorKind::usage, "backend spec '" + text + "' gives " + key + " twice",
                  "leave one of them");
    }
    if (keys.find(key) == std::string::npos) {
      throw Error(ErrorKind::usage,
                  "backend spec '" + text + "': " + key + " means nothing to " + spec.backend,
                  known);
    }
  }
  return spec;
}

std::vector<BackendSpec> parse_specs(const std::string& list) {
  std::vector<std::string> texts;
  for (const std::string& item : split(list, ',')) {
    const std::size_t equals = item.find('=');
    const bool belongs = equals != std::string::npos && item.find(':') > equals;
    if (belongs && !texts.empty()) {
      texts.back() += (texts.back().find(':') == std::string::npos ? ":" : ",") + item;
    } else {
      texts.push_back(item);
    }
  }
  std::vector<BackendSpec> specs;
  for (const std::string& text : texts) specs.push_back(parse_spec(text));
  return specs;
}

}  // namespace concord
