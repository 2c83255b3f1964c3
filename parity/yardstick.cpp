#include "parity/yardstick.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace concord::parity {
namespace {

// A chain of multiplications and additions, each waiting for the one before: its time is the
// clock's and the scheduler's, whatever the compiler makes of it.
double chain() {
  double x = 0.5;
  for (int i = 0; i < 1'200'000; ++i) x = x * 0.999999 + 1e-7;
  return x;
}

}  // namespace

double yardstick_ms(int threads) {
  std::atomic<double> sink = 0;
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&sink] { sink = chain(); });
    sink = chain();
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace concord::parity
