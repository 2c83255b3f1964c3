#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<std::int64_t> places(const Tensor& x) {
  std::vector<std::int64_t> found;
  if (x.dtype() == DataType::string) {
    for (std::size_t i = 0; i < x.strings().size(); ++i) {
      if (!x.strings()[i].empty()) found.push_back(static_cast<std::int64_t>(i));
    }
    return found;
  }
  with_values(x, [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) found.push_back(static_cast<std::int64_t>(i));
    }
  });
  return found;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t> found = places(x);
  const auto count = static_cast<std::int64_t>(found.size());
  const Shape& shape = x.shape();  // of a scalar: positions without coordinates, [0, count]
  const auto rank = static_cast<std::int64_t>(shape.size());
  Tensor y(DataType::i64, {rank, count});
  const auto to = y.as_mutable<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const Shape position = position_of(found[static_cast<std::size_t>(i)], shape);
    for (std::int64_t d = 0; d < rank; ++d) {
      to[static_cast<std::size_t>(d * count + i)] = position[static_cast<std::size_t>(d)];
    }
  }
  return {std::move(y)};
}

}  // namespace

const Kernel host_nonzero{nullptr, run};

}  // namespace concord::host
