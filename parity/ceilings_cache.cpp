// Ceilings of devices, remembered between runs in the user's cache folder.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "backends/build_id.h"
#include "graph/error.h"
#include "parity/ceilings.h"
#include "parity/worker_json.h"
#include "parity/worker_process.h"

namespace concord::parity {
namespace {

using nlohmann::json;

// Without a home the cache is off.
std::optional<std::filesystem::path> cache_file() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::filesystem::path(cache) / "concord" / "ceilings.json";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".cache" / "concord" / "ceilings.json";
  }
  return std::nullopt;
}

json read_cache() {
  const auto file = cache_file();
  if (!file) return json::object();
  std::ifstream in(*file);
  json cache = in ? json::parse(in, nullptr, false) : json::object();
  return cache.is_object() ? cache : json::object();
}

// Written beside and renamed, so that readers see a whole file. A cache that cannot be written is
// none.
void write_cache(const json& cache) {
  const auto file = cache_file();
  if (!file) return;
  std::error_code error;
  std::filesystem::create_directories(file->parent_path(), error);
  const std::filesystem::path fresh = file->string() + "." + std::to_string(getpid());
  std::ofstream out(fresh);
  out << cache.dump(1) << "\n";
  out.close();
  if (out) std::filesystem::rename(fresh, *file, error);
  if (!out || error) std::filesystem::remove(fresh, error);
}

// When the backend's module was built: its kernels make the ceilings.
std::string module_time(const std::string& backend) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&measure_ceilings), &info) == 0) return {};
  std::error_code error;
  const auto folder = std::filesystem::path(info.dli_fname).parent_path();
  const auto time =
      std::filesystem::last_write_time(folder / ("libconcord_" + backend + ".so"), error);
  return error ? std::string() : std::to_string(time.time_since_epoch().count());
}

// What the ceilings depend on: the build, the device with its driver, and the spec's own choices,
// but not precision and fusion, which they cover or ignore.
std::string key_of(const BackendSpec& spec, const DeviceInfo& device) {
  const CompileOptions& o = spec.options;
  return std::string(CONCORD_BUILD_ID) + "|" + module_time(spec.backend) + "|" + spec.backend +
         "|" + device.name + "|" + device.driver + "|threads=" + std::to_string(o.threads) +
         "|isa=" + o.isa + "|matmul=" + std::to_string(static_cast<int>(o.matmul)) +
         "|replay=" + (o.replay ? "on" : "off");
}

}  // namespace

Ceilings calibrate(const BackendSpec& spec, const CalibrateOptions& options) {
  WorkerProcess worker("calibration of " + spec.text, 600);
  Ceilings ceilings = ceilings_from_json(worker.ask({{"command", "calibrate"},
                                                     {"spec", spec.text},
                                                     {"sweep", options.sweep},
                                                     {"seconds", options.seconds}}));
  json cache = read_cache();
  cache[key_of(spec, ceilings.device)] = to_json(ceilings);
  write_cache(cache);
  return ceilings;
}

std::optional<Ceilings> ceilings_of(const BackendSpec& spec, const DeviceInfo& device) {
  if (spec.backend == "reference") return std::nullopt;
  const json cache = read_cache();
  try {
    if (const auto known = cache.find(key_of(spec, device)); known != cache.end()) {
      return ceilings_from_json(*known);
    }
  } catch (const json::exception&) {
    // Not what was written here: measured again.
  }
  try {
    return calibrate(spec, {});
  } catch (const Error&) {
    return std::nullopt;  // the report then has times without ceilings
  }
}

}  // namespace concord::parity
