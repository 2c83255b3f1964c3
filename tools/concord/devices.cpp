#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "tools/concord/commands.h"

namespace concord::tools {
namespace {

std::string memory_text(std::uint64_t bytes) {
  if (bytes == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, ", %.1f GiB", static_cast<double>(bytes) / (1u << 30));
  return text;
}

nlohmann::json to_json(const std::vector<BackendStatus>& backends) {
  nlohmann::json list = nlohmann::json::array();
  for (const BackendStatus& status : backends) {
    nlohmann::json devices = nlohmann::json::array();
    for (const DeviceInfo& device : status.devices) {
      devices.push_back({{"index", device.index},
                         {"name", device.name},
                         {"driver", device.driver},
                         {"type", device.type},
                         {"memory_bytes", device.memory_bytes}});
    }
    list.push_back({{"name", status.name},
                    {"available", status.available},
                    {"reason", status.reason},
                    {"devices", devices}});
  }
  return {{"schema", 1}, {"backends", list}};
}

void print(const std::vector<BackendStatus>& backends) {
  for (const BackendStatus& status : backends) {
    if (!status.available) {
      std::cout << status.name << ": not available: " << status.reason << "\n";
      continue;
    }
    for (const DeviceInfo& device : status.devices) {
      std::cout << status.name;
      if (status.devices.size() > 1) std::cout << ":device=" << device.index;
      std::cout << ": " << device.name << " (" << device.type << memory_text(device.memory_bytes)
                << "; " << device.driver << ")\n";
    }
  }
}

struct DevicesOptions {
  std::string json;
};

}  // namespace

void add_devices(CLI::App& app, CommonOptions& common, int&) {
  CLI::App* command =
      app.add_subcommand("devices", "Backends and devices here, and why others are not");
  auto options = std::make_shared<DevicesOptions>();
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  add_common_options(*command, common);
  command->footer("Example: concord devices --json -");
  command->callback([options] {
    const std::vector<BackendStatus> backends = list_backends();
    if (options->json != "-") print(backends);
    if (!options->json.empty())
      write_report(
          options->json,
          to_json(backends).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  });
}

}  // namespace concord::tools
