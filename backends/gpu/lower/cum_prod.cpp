#include "backends/gpu/lower/cumulative.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  const DataType dtype = query.in_dtype(0);
  if (dtype == DataType::i64 || dtype == DataType::u64) {
    return "products of 64-bit integers, which lie in 32 bits";
  }
  return why_no_cumulative(query, "scan_product");
}

}  // namespace

const Lowering gpu_cum_prod{why,
                            [](NodeLowering& node) { lower_cumulative(node, "scan_product"); }};

}  // namespace concord::gpu
