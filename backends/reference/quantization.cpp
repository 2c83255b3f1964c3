#include "backends/reference/quantization.h"

#include "graph/error.h"

namespace concord::reference {

std::vector<double> real_values(const Tensor& t) {
  if (is_float(t.dtype())) return host::doubles(t);
  std::vector<double> values(static_cast<std::size_t>(t.count()));
  for (std::int64_t i = 0; i < t.count(); ++i) values[static_cast<std::size_t>(i)] = t.at_double(i);
  return values;
}

QuantScales::QuantScales(const Call& call, const Shape& x) : scales_(real_values(call.input(1))) {
  if (call.has(2)) {
    zeros_ = real_values(call.input(2));
    if (zeros_.size() != scales_.size()) {
      throw Error(ErrorKind::invalid, std::to_string(zeros_.size()) + " zero points for " +
                                          std::to_string(scales_.size()) + " scales");
    }
  }
  const Shape& scale = call.shape(1);
  block_ = call.attrs().integer("block_size", 0);
  blocked_ = block_ > 0 && scale.size() == x.size() && !x.empty();
  if (!blocked_ && scales_.size() == 1) {
    block_ = 0;
    return;
  }
  const std::int64_t wanted = call.attrs().integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(x.size());
  const std::int64_t at = wanted < 0 ? wanted + rank : wanted;
  bool fits = at >= 0 && at < rank;
  if (fits) {
    const auto axis = static_cast<std::size_t>(at);
    axis_extent_ = x[axis];
    inner_ = host::extent_product(x, axis + 1, x.size());
    if (blocked_) {
      blocks_ = scale[axis];
      fits = (axis_extent_ + block_ - 1) / block_ == blocks_;
      for (std::size_t d = 0; d < x.size() && fits; ++d) fits = d == axis || scale[d] == x[d];
    } else {
      block_ = 1;
      blocks_ = axis_extent_;
      fits = static_cast<std::int64_t>(scales_.size()) == axis_extent_;
    }
  }
  if (!fits) {
    throw Error(ErrorKind::invalid,
                "scales of shape " + to_string(std::span<const std::int64_t>(scale)) +
                    " do not fit a tensor of shape " + to_string(std::span<const std::int64_t>(x)));
  }
}

std::size_t QuantScales::place(std::int64_t element) const {
  if (block_ == 0) return 0;
  const std::int64_t along = element / inner_ % axis_extent_;
  if (!blocked_) return static_cast<std::size_t>(along);
  const std::int64_t outer = element / inner_ / axis_extent_;
  return static_cast<std::size_t>((outer * blocks_ + along / block_) * inner_ + element % inner_);
}

}  // namespace concord::reference
