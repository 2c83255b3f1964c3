#pragma once

#include <cstddef>

namespace concord::parity {

// Times a fixed piece of arithmetic on `threads` threads at once, in ms (some 3 ms on a core of
// 2023). It is the same in every build and needs no memory, so that two sessions that disagree on
// it ran on a machine in two states: throttled, shared with others, or another one.
double yardstick_ms(int threads);

}  // namespace concord::parity
