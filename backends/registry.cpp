#include "backends/registry.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <dlfcn.h>

#include "backends/build_id.h"
#include "backends/reference/reference_backend.h"
#include "graph/error.h"

namespace concord {
namespace {

constexpr const char* kModuleNames[] = {"cpu", "cuda", "vulkan"};
constexpr const char* kPrefix = "libconcord_";
constexpr const char* kSuffix = ".so";

std::map<std::string, BackendFactory>& own_backends() {
  static std::map<std::string, BackendFactory> factories;
  return factories;
}

std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Null if the program has none of this name. It may open others: the lock is not held when it runs.
BackendFactory own_backend(const std::string& name) {
  const std::lock_guard lock(registry_mutex());
  const auto own = own_backends().find(name);
  return own != own_backends().end() ? own->second : nullptr;
}

// The folder that holds libconcord.so, or the program if it is linked in.
std::filesystem::path library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&list_backends), &info) != 0 && info.dli_fname) {
    std::error_code ignored;
    const auto path = std::filesystem::canonical(info.dli_fname, ignored);
    if (!ignored) return path.parent_path();
  }
  return ".";
}

std::filesystem::path module_path(const std::string& name) {
  return library_folder() / (kPrefix + name + kSuffix);
}

std::vector<std::string> module_names() {
  std::vector<std::string> names(std::begin(kModuleNames), std::end(kModuleNames));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(library_folder(), ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) continue;
    const std::size_t start = std::string(kPrefix).size();
    names.push_back(file.substr(start, file.size() - start - std::string(kSuffix).size()));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

struct CloseModule {
  void operator()(void* handle) const { dlclose(handle); }
};
using Module = std::unique_ptr<void, CloseModule>;

// Loads the module once per process; one that is refused is closed again. Throws Error(failed) with
// the reason if it is not usable.
const ModuleApi& load_module(const std::string& name) {
  static std::map<std::string, const ModuleApi*> loaded;
  const std::lock_guard lock(registry_mutex());
  if (const auto it = loaded.find(name); it != loaded.end()) return *it->second;
  const std::filesystem::path path = module_path(name);
  if (!std::filesystem::exists(path)) {
    throw Error(ErrorKind::failed,
                "backend '" + name + "' is not part of this installation: " +
                    path.filename().string() + " is not beside libconcord.so",
                "build Concord with it, or choose another backend (concord devices)");
  }
  Module module(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!module) {
    throw Error(ErrorKind::failed, "backend '" + name + "' cannot be loaded: " + dlerror(),
                "install what is missing, or choose another backend (concord devices)");
  }
  using Entry = const ModuleApi* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(module.get(), "concord_module_v1"));
  if (entry == nullptr) {
    throw Error(ErrorKind::failed,
                path.string() + " is not a Concord backend (it has no concord_module_v1)",
                "remove the file, or install Concord again");
  }
  const ModuleApi* api = entry();
  if (std::string(api->build_id) != CONCORD_BUILD_ID) {
    throw Error(ErrorKind::failed,
                "backend '" + name + "' was built with another version (build " + api->build_id +
                    ", the library is build " CONCORD_BUILD_ID ")",
                "build or install library and backends together");
  }
  loaded[name] = api;
  static_cast<void>(module.release());  // its code runs to the end of the process
  return *api;
}

std::string known_names() {
  std::string text = "reference";
  for (const std::string& name : module_names()) text += ", " + name;
  const std::lock_guard lock(registry_mutex());
  for (const auto& [name, factory] : own_backends()) text += ", " + name;
  return text;
}

}  // namespace

std::vector<BackendStatus> list_backends() {
  std::vector<BackendStatus> result;
  BackendStatus reference;
  reference.name = "reference";
  reference.available = true;
  reference.devices = {{0, "float64 oracle", "built in", "cpu", 0}};
  result.push_back(std::move(reference));
  for (const std::string& name : module_names()) {
    BackendStatus status;
    status.name = name;
    try {
      status.devices = load_module(name).devices();
      status.available = !status.devices.empty();
      if (!status.available) status.reason = "no device found";
    } catch (const Error& error) {
      status.reason = error.what();
    }
    result.push_back(std::move(status));
  }
  return result;
}

std::shared_ptr<Backend> open_backend(const BackendSpec& spec) {
  if (spec.backend == "reference") return reference::make_backend(spec.options);
  if (const BackendFactory factory = own_backend(spec.backend)) return factory(spec);
  require_known(spec.backend);
  return load_module(spec.backend).create(spec.device, spec.options);
}

void require_known(const std::string& backend) {
  if (backend == "reference") return;
  if (own_backend(backend) != nullptr) return;
  const std::vector<std::string> names = module_names();
  if (std::find(names.begin(), names.end(), backend) == names.end()) {
    throw Error(ErrorKind::usage, "unknown backend '" + backend + "'",
                "known backends: " + known_names());
  }
}

void register_backend(const std::string& name, BackendFactory factory) {
  const std::lock_guard lock(registry_mutex());
  own_backends()[name] = factory;
}

}  // namespace concord
