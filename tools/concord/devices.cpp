#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backends/build_id.h"
#include "backends/registry.h"
#include "graph/error.h"
#include "parity/ceilings_text.h"
#include "parity/performance.h"
#include "tools/concord/commands.h"
#include "tools/concord/validators.h"

namespace concord::tools {
namespace {

struct DevicesOptions {
  std::string json;
  std::string html;
  bool calibrate = false;
  double seconds = 3;
};

// By backend and device; nullopt where it was not asked for or failed.
using CeilingsList = std::vector<std::vector<std::optional<parity::Ceilings>>>;

std::string memory_text(std::uint64_t bytes) {
  if (bytes == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, ", %.1f GiB", static_cast<double>(bytes) / (1u << 30));
  return text;
}

nlohmann::json to_json(const std::vector<BackendStatus>& backends, const CeilingsList& ceilings) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t b = 0; b < backends.size(); ++b) {
    const BackendStatus& status = backends[b];
    nlohmann::json devices = nlohmann::json::array();
    for (std::size_t d = 0; d < status.devices.size(); ++d) {
      const DeviceInfo& device = status.devices[d];
      devices.push_back({{"index", device.index},
                         {"name", device.name},
                         {"driver", device.driver},
                         {"type", device.type},
                         {"memory_bytes", device.memory_bytes},
                         {"units", device.units}});
      if (ceilings[b][d]) devices.back()["ceilings"] = parity::to_json(*ceilings[b][d]);
    }
    list.push_back({{"name", status.name},
                    {"available", status.available},
                    {"reason", status.reason},
                    {"devices", devices}});
  }
  return {{"schema", 1}, {"backends", list}};
}

void print(const std::vector<BackendStatus>& backends, const CeilingsList& ceilings) {
  for (std::size_t b = 0; b < backends.size(); ++b) {
    const BackendStatus& status = backends[b];
    if (!status.available) {
      std::cout << status.name << ": not available: " << status.reason << "\n";
      continue;
    }
    for (std::size_t d = 0; d < status.devices.size(); ++d) {
      const DeviceInfo& device = status.devices[d];
      std::cout << status.name;
      if (status.devices.size() > 1) std::cout << ":device=" << device.index;
      std::cout << ": " << device.name << " (" << device.type << memory_text(device.memory_bytes)
                << "; " << device.driver << ")\n";
      if (ceilings[b][d]) std::cout << parity::to_text(*ceilings[b][d], 2);
    }
  }
}

CeilingsList calibrate(const std::vector<BackendStatus>& backends, const DevicesOptions& options,
                       const CommonOptions& common) {
  CeilingsList list;
  for (const BackendStatus& status : backends) {
    auto& of_backend = list.emplace_back(status.devices.size());
    if (!options.calibrate || !status.available || status.name == "reference") continue;
    for (std::size_t d = 0; d < status.devices.size(); ++d) {
      if (!parity::has_speed(status.devices[d])) continue;
      std::string text = status.name;
      if (status.devices.size() > 1) {
        text += ":device=" + std::to_string(status.devices[d].index);
      }
      show_progress(common, "measuring " + text, 0);
      try {
        of_backend[d] = parity::calibrate(common.spec(parse_spec(text)), {true, options.seconds});
      } catch (const Error& error) {
        show_progress(common, "", 1);
        std::cerr << "concord: " << text << " could not be measured: " << error.what() << "\n";
      }
    }
  }
  show_progress(common, "", 1);
  return list;
}

void devices(const DevicesOptions& options, const CommonOptions& common) {
  if (!options.html.empty() && !options.calibrate) {
    throw Error(ErrorKind::usage, "--html without --calibrate: there is nothing to draw",
                "add --calibrate");
  }
  check_targets({{"--json", options.json}, {"--html", options.html}});
  const std::vector<BackendStatus> backends = list_backends();
  const CeilingsList ceilings = calibrate(backends, options, common);
  if (options.json != "-") print(backends, ceilings);
  if (!options.json.empty()) {
    write_report(options.json, to_json(backends, ceilings).dump(1) + "\n");
  }
  if (options.html.empty()) return;
  std::vector<parity::Ceilings> all;
  for (const auto& of_backend : ceilings) {
    for (const auto& one : of_backend) {
      if (one) all.push_back(*one);
    }
  }
  write_report(options.html,
               parity::ceilings_html(all, parity::this_machine(), CONCORD_VERSION, now_text()));
}

}  // namespace

void add_devices(CLI::App& app, CommonOptions& common, int&) {
  CLI::App* command =
      app.add_subcommand("devices", "Backends and devices here, and why others are not");
  auto options = std::make_shared<DevicesOptions>();
  command->add_flag("--calibrate", options->calibrate,
                    "Measure what each can reach: copies, matmuls by precision, an empty step");
  command->add_option("--seconds", options->seconds, "Of measuring, per device, about (default 3)")
      ->check(number_within(0.1, 3600))
      ->type_name("S");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  command->add_option("--html", options->html, "With --calibrate: write a page with charts")
      ->type_name("FILE");
  add_common_options(*command, common);
  command->footer("Example: concord devices --calibrate --html devices.html");
  command->callback([options, &common] { devices(*options, common); });
}

}  // namespace concord::tools
