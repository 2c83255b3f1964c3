#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backends/backend.h"
#include "backends/spec.h"

// What a device can reach, measured with Concord's own kernels on it: a step cannot well do better,
// and what is short of it can be asked for.
namespace concord::parity {

struct MemoryRate {
  double bytes = 0;  // read and written together
  double rate = 0;   // bytes per second
};

struct MatmulRate {
  std::int64_t size = 0;  // m = n = k
  double rate = 0;        // operations per second
  std::string kernel;
};

struct MatmulCeiling {
  std::string precision;  // of operands: float32, tf32, float16, bfloat16, int8
  double peak = 0;        // operations per second
  std::vector<MatmulRate> sizes;
};

struct Ceilings {
  std::string backend;
  DeviceInfo device;
  double step_ms = 0;  // what one more step of nothing adds to a run
  double run_ms = 0;   // what a run costs before its first step
  // By rising size: caches show.
  std::vector<MemoryRate> copies;
  std::vector<MemoryRate> reads;  // of weights, by a product with one row
  std::vector<MatmulCeiling> matmuls;

  // Of a copy of that many bytes, by interpolation between measured sizes; what is smaller than all
  // of them counts as the fastest.
  double copy_rate(double bytes) const;
  double read_rate(double bytes) const;  // alike, of reading
  // Peak for these operands, or that of float32; 0 if nothing is known.
  double peak(const StepPrecision& precision) const;
};

nlohmann::json to_json(const Ceilings& ceilings);
Ceilings ceilings_from_json(const nlohmann::json& j);

struct CalibrateOptions {
  bool sweep = false;    // matmuls over many sizes, for a chart; else only what ceilings need
  double seconds = 1.0;  // about; drivers that compile kernels take longer the first time
};

// Measures in this process, on the spec's device with its threads and instruction set.
Ceilings measure_ceilings(const BackendSpec& spec, const CalibrateOptions& options);

// Measures in a worker process and remembers the result.
Ceilings calibrate(const BackendSpec& spec, const CalibrateOptions& options);

// What was remembered of this device under this build, else a short calibration; nullopt where the
// backend computes nothing that has a ceiling (the oracle) or refuses.
std::optional<Ceilings> ceilings_of(const BackendSpec& spec, const DeviceInfo& device);

}  // namespace concord::parity
