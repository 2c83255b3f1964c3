#include "backends/cores.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <sched.h>

namespace concord {
namespace {

std::optional<double> quota_of(const std::string& folder) {
  // Version 2: "max 100000" or "150000 100000".
  if (std::ifstream file(folder + "/cpu.max"); file) {
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
    return std::nullopt;
  }
  double quota = 0;
  double period = 0;
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0)
    return quota / period;
  return std::nullopt;
}

// The least quota of this process' control group and those above it.
double cgroup_cores() {
  double least = 1e6;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::istringstream fields(line);
    std::string hierarchy;
    std::string controllers;
    std::string path;
    std::getline(fields, hierarchy, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    std::string root = "/sys/fs/cgroup";
    if (hierarchy != "0") {
      if ((',' + controllers + ',').find(",cpu,") == std::string::npos) continue;
      root += "/" + controllers;
    }
    while (true) {
      if (const auto quota = quota_of(root + path)) least = std::min(least, *quota);
      const auto slash = path.rfind('/');
      if (slash == std::string::npos) break;
      path.resize(slash);
    }
  }
  return least;
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

int available_cores() {
  static const int cores =
      std::max(1, std::min(affinity_cores(), static_cast<int>(std::ceil(cgroup_cores()))));
  return cores;
}

}  // namespace concord
