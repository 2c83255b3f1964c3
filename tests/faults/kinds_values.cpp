// Faults of memory and synchronisation: what a step wrote is spoilt.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/faults/fault.h"

namespace concord::faults {
namespace {

using graph::OpKind;

bool writes_floats(const Site& site) {
  return !site.results.empty() && site.results[0].defined() && site.results[0].count() > 1 &&
         is_float(site.results[0].dtype()) && site.node.op != OpKind::reshape;
}
bool writes_f32(const Site& site) {
  return writes_floats(site) && site.results[0].dtype() == DataType::f32;
}

std::int64_t pick(const Injection& in, std::uint64_t index, std::int64_t count) {
  return static_cast<std::int64_t>(hash(in.seed, index) % static_cast<std::uint64_t>(count));
}

// The last elements, behind a multiple of eight, keep what the memory held before.
void tail_uninitialised(const Injection&, std::vector<Tensor>& results) {
  const std::int64_t count = results[0].count();
  const std::int64_t first = count % 8 == 0 ? count - 1 : count - count % 8;
  constexpr double pattern = -431602080.0;  // 0xCDCDCDCD as float32
  results[0] = mapped(results[0], [&](std::int64_t i, double v) {
    return i < first ? v : results[0].dtype() == DataType::f16 ? -23.2 : pattern;
  });
}

bool may_be_stale(const Site& site) {
  return writes_floats(site) && site.results[0].count() >= 8 && site.operands[0].defined() &&
         site.operands[0].dtype() == site.results[0].dtype() && site.operands[0].count() > 0;
}
// A quarter of the result still holds what another step left there: its own operand.
void stale_buffer(const Injection& in, std::vector<Tensor>& results) {
  const std::int64_t count = results[0].count();
  const std::int64_t first = pick(in, 1, 4) * (count / 4);
  const Tensor& old = in.operands[0];
  results[0] = mapped(results[0], [&](std::int64_t i, double v) {
    return i >= first && i < first + count / 4 ? old.at_double(i % old.count()) : v;
  });
}

// One run in ten loses what one thread added to eight neighbours.
void race(const Injection& in, std::vector<Tensor>& results) {
  if (!race_shows(in.seed, in.run)) return;
  const std::int64_t first = pick(in, 2, results[0].count());
  results[0] = mapped(results[0], [&](std::int64_t i, double v) {
    return i >= first && i < first + 8 ? v / 2 : v;
  });
}

void set_one(const Injection& in, std::vector<Tensor>& results, double value) {
  const std::int64_t at = pick(in, 3, results[0].count());
  results[0] = mapped(results[0], [&](std::int64_t i, double v) { return i == at ? value : v; });
}
void one_nan(const Injection& in, std::vector<Tensor>& results) {
  set_one(in, results, std::numeric_limits<double>::quiet_NaN());
}
void one_infinity(const Injection& in, std::vector<Tensor>& results) {
  set_one(in, results, std::numeric_limits<double>::infinity());
}

bool has_rows(const Site& site) {
  return writes_floats(site) && site.results[0].rank() >= 2 && site.results[0].shape().back() > 0 &&
         site.results[0].count() >= 2 * site.results[0].shape().back();
}
void rows_swapped(const Injection& in, std::vector<Tensor>& results) {
  const std::int64_t width = results[0].shape().back();
  const std::int64_t rows = results[0].count() / width;
  const std::int64_t a = pick(in, 4, rows);
  const std::int64_t b = (a + 1 + pick(in, 5, rows - 1)) % rows;
  const Tensor old = results[0];
  results[0] = mapped(old, [&](std::int64_t i, double v) {
    const std::int64_t row = i / width;
    if (row != a && row != b) return v;
    return old.at_double((row == a ? b : a) * width + i % width);
  });
}
void sign_lost(const Injection& in, std::vector<Tensor>& results) {
  const std::int64_t width = results[0].shape().back();
  const std::int64_t row = pick(in, 6, results[0].count() / width);
  results[0] =
      mapped(results[0], [&](std::int64_t i, double v) { return i / width == row ? -v : v; });
}

void stored_bf16(const Injection&, std::vector<Tensor>& results) {
  results[0] = mapped(
      results[0], [](std::int64_t, double v) { return reference::round_to(DataType::bf16, v); });
}
void stored_f16(const Injection&, std::vector<Tensor>& results) {
  results[0] = mapped(results[0],
                      [](std::int64_t, double v) { return reference::round_to(DataType::f16, v); });
}

bool is_arithmetic(const Site& site) {
  if (!writes_f32(site)) return false;
  switch (site.node.op) {
    case OpKind::matmul:
    case OpKind::conv:
    case OpKind::attention:
    case OpKind::layer_norm:
    case OpKind::rms_norm:
    case OpKind::softmax:
    case OpKind::gru:
    case OpKind::lstm:
      return true;
    default:
      return false;
  }
}
void one_ulp(const Injection& in, std::vector<Tensor>& results) {
  const std::int64_t at = pick(in, 7, results[0].count());
  results[0] = mapped(results[0], [&](std::int64_t i, double v) {
    return i == at ? std::nextafter(static_cast<float>(v), std::numeric_limits<float>::infinity())
                   : v;
  });
}

constexpr FaultKind kKinds[] = {
    {"uninitialised tail", "the elements behind the last multiple of eight are not written",
     writes_floats, nullptr, nullptr, nullptr, tail_uninitialised},
    {"stale buffer", "a quarter of the result still holds another tensor", may_be_stale, nullptr,
     nullptr, nullptr, stale_buffer},
    {"race", "one run in ten loses half of eight neighbours", writes_floats, nullptr, nullptr,
     nullptr, race, true},
    {"one NaN", "one element is NaN", writes_floats, nullptr, nullptr, nullptr, one_nan},
    {"one infinity", "one element is infinite", writes_floats, nullptr, nullptr, nullptr,
     one_infinity},
    {"rows swapped", "two rows stand in each other's place", has_rows, nullptr, nullptr, nullptr,
     rows_swapped},
    {"sign lost", "one row has the other sign", has_rows, nullptr, nullptr, nullptr, sign_lost},
    {"stored as bfloat16", "a float32 result is rounded to bfloat16", writes_f32, nullptr, nullptr,
     nullptr, stored_bf16},
    {"stored as float16", "a float32 result is rounded to float16", writes_f32, nullptr, nullptr,
     nullptr, stored_f16},
    {"one ulp", "one element of an arithmetic step is one ulp larger: no fault", is_arithmetic,
     nullptr, nullptr, nullptr, one_ulp, false, true},
};

}  // namespace

std::span<const FaultKind> value_kinds() {
  return kKinds;
}

}  // namespace concord::faults
