#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/spec.h"

namespace concord {

struct BackendStatus {
  std::string name;
  bool available = false;
  std::string reason;  // why not
  std::vector<DeviceInfo> devices;
};

// Every backend that this build knows (reference, cpu, cuda, vulkan) and every module found beside
// the library, in that order. Starts the drivers.
std::vector<BackendStatus> list_backends();

// Opens one; touches no other module or driver. Throws Error(usage) for an unknown name with the
// known ones, Error(failed) with the reason if it cannot start here.
std::shared_ptr<Backend> open_backend(const BackendSpec& spec);

// Throws Error(usage) with the known names if there is no such backend; starts nothing.
void require_known(const std::string& backend);

// Adds a backend of the program's own (tests wrap one in another).
using BackendFactory = std::shared_ptr<Backend> (*)(const BackendSpec& spec);
void register_backend(const std::string& name, BackendFactory factory);

}  // namespace concord
