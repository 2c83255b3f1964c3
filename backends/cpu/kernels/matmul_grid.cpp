#include <algorithm>

#include "backends/cpu/kernels/matmul_internal.h"

namespace concord::cpu {
namespace {

// The kernels' highest block of rows.
constexpr std::int64_t kBlock = 6;
// Less work than this is not worth waking a thread.
constexpr double kWorthNanoseconds = 2500;

std::int64_t row_blocks(std::int64_t rows) {
  return (rows + kBlock - 1) / kBlock;
}

}  // namespace

MatmulRegion MatmulGrid::region(std::int64_t task) const {
  const std::int64_t down = task / panel_pieces;
  const std::int64_t across = task % panel_pieces;
  const auto row = [&](std::int64_t piece) {
    return std::min(rows, row_blocks(rows) * piece / row_pieces * kBlock);
  };
  return {row(down), row(down + 1), panels * across / panel_pieces,
          panels * (across + 1) / panel_pieces};
}

// The cut that leaves the slowest thread least to do; columns rather than rows where equal, so that
// each weight is read by one thread.
MatmulGrid cut_product(std::int64_t rows, std::int64_t panels, double nanoseconds) {
  const std::int64_t blocks = row_blocks(rows);
  const auto worthwhile = static_cast<std::int64_t>(nanoseconds / kWorthNanoseconds) + 1;
  const std::int64_t threads = std::min<std::int64_t>(current_threads(), worthwhile);
  MatmulGrid best{rows, panels, 1, 1};
  std::int64_t least = blocks * panels;
  for (std::int64_t across = std::min(panels, threads); across >= 1; --across) {
    const std::int64_t down = std::min(blocks, threads / across);
    const std::int64_t share = ((panels + across - 1) / across) * ((blocks + down - 1) / down);
    if (share < least) {
      least = share;
      best.row_pieces = down;
      best.panel_pieces = across;
    }
  }
  return best;
}

}  // namespace concord::cpu
