#include "tests/fake_cuda/state.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace fake_cuda {
namespace {

void set_up(State& state) {
  const char* text = std::getenv("CONCORD_FAKE_CUDA");
  std::istringstream items(text == nullptr ? "" : text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = item.substr(0, equals);
    const std::string value = item.substr(equals + 1);
    const int number = std::atoi(value.c_str());
    if (key == "devices") state.setup.devices = number;
    if (key == "capability") state.setup.capability = number;
    if (key == "version") state.setup.version = number;
    if (key == "memory_mib") state.setup.memory = static_cast<std::uint64_t>(number) << 20;
    if (key == "verbose") state.setup.verbose = number != 0;
    if (key == "fail") {
      std::istringstream parts(value);
      std::string function;
      int nth = 1;
      int result = CUDA_ERROR_UNKNOWN;
      char colon = 0;
      std::getline(parts, function, ':');
      parts >> nth >> colon >> result;
      state.faults[function][nth] = result;
    }
  }
}

}  // namespace

State& State::get() {
  static auto* const state = [] {
    auto* made = new State;  // NOLINT(cppcoreguidelines-owning-memory): as Vulkan::get
    return made;
  }();
  static const bool ready = [] {
    set_up(*state);
    return true;
  }();
  (void)ready;
  return *state;
}

std::optional<int> State::take_fault(const std::string& name, int nth) {
  const auto node = faults[name].extract(nth);
  return node.empty() ? std::nullopt : std::optional(node.mapped());
}

std::optional<int> State::take_step_fault(const std::string& name) {
  return take_fault(name, ++steps[name]);
}

CUresult State::refuse(CUresult result, const std::string& what) {
  complaint = what;
  std::fprintf(stderr, "software driver: %s\n", what.c_str());
  return result;
}

CUresult State::break_with(CUresult result, const std::string& what) {
  broken = result;
  return refuse(result, what);
}

}  // namespace fake_cuda
