#include "backends/gpu/lower/scatter.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"

namespace concord::gpu {

std::string scatter_kernel(const std::string& family, const std::string& reduction,
                           DataType storage) {
  if (reduction == "none") return family + "_" + move_suffix(storage);
  return family + "_" + reduction + "_" + type_suffix(storage);
}

std::optional<std::string> why_no_scatter(const Query& query, const std::string& family) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(
      scatter_kernel(family, query.node.attrs.text("reduction", "none"), query.in(0)));
}

}  // namespace concord::gpu
