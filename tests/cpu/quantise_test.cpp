// Quantising against scalar code: odd lengths, ties, saturation and values that are no numbers.

#include "backends/cpu/kernels/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

class Quantise : public IsaTest {};

TEST_P(Quantise, BytesOfEveryLengthAndSign) {
  Random random(7);
  for (const std::int64_t count : {1, 5, 16, 17, 100, 40000}) {
    for (const bool is_signed : {false, true}) {
      std::vector<float> x = random.vector(count, -40.0f, 60.0f);
      // Ties, far values and none at all.
      const float odd[] = {0.125f, 0.375f, -0.125f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, -0.0f};
      for (std::size_t i = 0; i < std::min(x.size(), std::size(odd)); ++i) x[i] = odd[i];
      std::vector<std::byte> y(x.size() + 1, std::byte{77});
      const float scale = 0.25f;
      const std::int32_t zero = is_signed ? -3 : 120;
      const ThreadScope scope(2);
      quantise_bytes(x.data(), count, scale, zero, is_signed, y.data());
      const float low = is_signed ? -128.0f : 0.0f;
      const float high = is_signed ? 127.0f : 255.0f;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float q = std::nearbyint(x[i] / scale) + static_cast<float>(zero);
        const float wanted = q >= low ? std::min(q, high) : low;
        const auto byte = static_cast<std::uint8_t>(y[i]);
        ASSERT_EQ(is_signed ? static_cast<std::int8_t>(byte) : byte, static_cast<int>(wanted))
            << "element " << i << " of " << count << ": " << x[i];
      }
      ASSERT_EQ(y.back(), std::byte{77}) << "wrote beyond the end";
    }
  }
}

TEST_P(Quantise, ExtremesContainZeroAndIgnoreNan) {
  Random random(8);
  for (const std::int64_t count : {0, 1, 15, 16, 33, 70000}) {
    for (const float offset : {-5.0f, 0.0f, 5.0f}) {
      std::vector<float> x = random.vector(count, offset - 1, offset + 1);
      if (count > 3) x[static_cast<std::size_t>(count) - 1] = NAN;
      float low = 0, high = 0;
      for (const float value : x) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
      const ThreadScope scope(2);
      const Extremes found = extremes(x.data(), count);
      EXPECT_EQ(found.low, low) << count;
      EXPECT_EQ(found.high, high) << count;
    }
  }
}

CONCORD_FOR_EACH_ISA(Quantise);

}  // namespace
}  // namespace concord::cpu
