#pragma once

#include <cstdint>

#include "backends/reference/oracle.h"

namespace concord::reference {

// Moves each element of a float value that has a σ by √(σ² + (u_store·y)²/3)·N(0, 1). What σ is 0
// of (moves, integers) stays. The same seed gives the same noise on every machine.
void add_noise(OracleValue& value, DataType store, std::uint64_t seed);

// Nearly normal (a sum of twelve uniform numbers): mean 0, variance 1, within ±6.
double normal_number(std::uint64_t seed, std::uint64_t index);

}  // namespace concord::reference
