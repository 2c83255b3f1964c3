#include "backends/build_id.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/isa.h"
#include "graph/error.h"

namespace {

using concord::CompileOptions;
using concord::Error;
using concord::ErrorKind;

std::vector<concord::DeviceInfo> devices() {
  return {concord::cpu::cpu_device()};
}

std::unique_ptr<concord::Backend> create(const std::string& selector,
                                         const CompileOptions& options) {
  if (!selector.empty() && selector != "0" &&
      concord::cpu::cpu_device().name.find(selector) == std::string::npos) {
    throw Error(ErrorKind::usage, "the cpu backend has no device '" + selector + "'",
                "It has one device; leave device= out.");
  }
  if (options.isa == "avx2") {
    concord::cpu::limit_isa(concord::cpu::Isa::avx2);
  } else if (options.isa == "avx512") {
    if (concord::cpu::native_isa() < concord::cpu::Isa::avx512) {
      throw Error(ErrorKind::failed, "this processor has no AVX-512", "Choose isa=native.");
    }
    concord::cpu::limit_isa(concord::cpu::Isa::avx512);
  } else if (options.isa == "baseline") {
    concord::cpu::limit_isa(concord::cpu::Isa::baseline);
  } else if (options.isa == "native") {
    // Leaves a limit that an earlier backend of this process set: weights may be packed for it.
  } else {
    throw Error(ErrorKind::usage, "unknown isa '" + options.isa + "'",
                "Known: avx2, avx512, native.");
  }
  return std::make_unique<concord::cpu::CpuBackend>();
}

constexpr concord::ModuleApi kApi{CONCORD_BUILD_ID, "cpu", devices, create};

}  // namespace

extern "C" __attribute__((visibility("default"))) const concord::ModuleApi* concord_module_v1() {
  return &kApi;
}
