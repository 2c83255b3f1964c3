#include "backends/gpu/select_device.h"

#include <algorithm>
#include <cctype>

#include "backends/gpu/device_error.h"

namespace concord::gpu {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string list_of(const std::vector<const Candidate*>& devices) {
  std::string text;
  for (const Candidate* device : devices) {
    text += (text.empty() ? "" : "; ") + std::to_string(device->index) + ": " +
            device->properties.name + ", " + device->properties.driver + " " +
            device->properties.driver_info;
    if (!device->unfit.empty()) text += " (unfit: " + device->unfit + ")";
  }
  return text;
}

}  // namespace

std::size_t select_candidate(const std::vector<const Candidate*>& devices,
                             const std::string& wanted, const std::string& api) {
  std::vector<std::size_t> fits;
  const bool by_index = std::ranges::any_of(
      devices, [&](const Candidate* device) { return std::to_string(device->index) == wanted; });
  // A number is sought in names ("4090") and not in versions, where "7" fits anything.
  const bool number = std::ranges::all_of(wanted, [](unsigned char c) { return std::isdigit(c); });
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Candidate& device = *devices[i];
    const DeviceProperties& p = device.properties;
    const std::string named = number ? p.name : p.name + "\n" + p.driver + "\n" + p.driver_info;
    if (wanted.empty() ? device.unfit.empty()
        : by_index     ? std::to_string(device.index) == wanted
                       : lower(named).find(lower(wanted)) != std::string::npos) {
      fits.push_back(i);
    }
  }
  if (wanted.empty() && !fits.empty()) {
    const auto gpu = std::ranges::find_if(
        fits, [&](std::size_t i) { return !devices[i]->properties.is_cpu_driver; });
    return gpu != fits.end() ? *gpu : fits.front();
  }
  if (fits.size() == 1) {
    const Candidate& only = *devices[fits.front()];
    if (only.unfit.empty()) return fits.front();
    fail_device(api + " device " + only.properties.name + " cannot be used: " + only.unfit,
                "devices here: " + list_of(devices));
  }
  fail_device((fits.empty() ? "no " : "several ") + api +
                  (fits.empty() ? " device fits" : " devices fit") +
                  (wanted.empty() ? std::string() : " device=" + wanted),
              "devices here: " + list_of(devices));
}

std::vector<const Candidate*> fit_candidates(const std::vector<const Candidate*>& devices,
                                             const std::string& api, const std::string& hint) {
  std::vector<const Candidate*> fit;
  std::string reasons;
  for (const Candidate* device : devices) {
    if (device->unfit.empty()) {
      fit.push_back(device);
    } else {
      reasons += (reasons.empty() ? "" : "; ") + device->properties.name + ": " + device->unfit;
    }
  }
  if (fit.empty()) {
    fail_device(reasons.empty() ? "no " + api + " driver was found"
                                : "no " + api + " device is fit (" + reasons + ")",
                hint);
  }
  return fit;
}

}  // namespace concord::gpu
