// Between floats and bytes with one scale and one zero point.
#pragma once

#include <cstddef>
#include <cstdint>

namespace concord::cpu {

// The least and the greatest of the numbers and 0; NaN counts for nothing.
struct Extremes {
  float low = 0, high = 0;
};
Extremes extremes(const float* x, std::int64_t count);

// y = saturate(round(x / scale) + zero) as ONNX's QuantizeLinear has it: ties to even, into i8 or
// u8; NaN gives the lowest value. scale must not be 0.
void quantise_bytes(const float* x, std::int64_t count, float scale, std::int32_t zero,
                    bool is_signed, std::byte* y);
// The same on the calling thread.
void quantise_serial(const float* x, std::int64_t count, float scale, std::int32_t zero,
                     bool is_signed, std::byte* y);

}  // namespace concord::cpu
