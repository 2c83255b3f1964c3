#include <string>
#include <utility>
#include <vector>

#include "backends/host/kernel.h"
#include "graph/error.h"

namespace concord::host {
namespace {

// A small tensor whose elements follow from the model's symbols.
std::vector<Tensor> run(const Call& call) {
  const std::vector<std::int64_t> values = call.list("values", 0);
  const Shape shape = call.node.attrs.integers("shape");
  const DataType to = call.node.attrs.dtype("to");
  Tensor y(to, shape);
  const auto fill = [&](auto tag) {
    using T = decltype(tag);
    auto* target = reinterpret_cast<T*>(y.mutable_data());
    for (std::size_t i = 0; i < values.size(); ++i) target[i] = static_cast<T>(values[i]);
  };
  switch (to) {
    case DataType::i64:
      fill(std::int64_t{});
      break;
    case DataType::i32:
      fill(std::int32_t{});
      break;
    case DataType::boolean:
      fill(bool{});
      break;
    case DataType::f32:
      fill(float{});
      break;
    case DataType::f64:
      fill(double{});
      break;
    default:
      throw Error(ErrorKind::unsupported,
                  "numbers of the extents as " + std::string(to_string(to)));
  }
  return {std::move(y)};
}

}  // namespace

const Kernel host_dims{nullptr, run};

}  // namespace concord::host
