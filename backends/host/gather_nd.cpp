#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const SliceTargets slices = slice_targets(call, call.node.attrs.integer("batch_dims", 0));
  const Shape& index_shape = call.input(1).shape();
  Shape shape(index_shape.begin(), index_shape.end() - 1);
  shape.insert(shape.end(), x.shape().end() - static_cast<std::ptrdiff_t>(slices.trailing),
               x.shape().end());
  Tensor y(x.dtype(), shape);
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    auto to = raw_mutable<T>(y).begin();
    for (const std::int64_t offset : slices.offsets) {
      to = std::copy_n(from.begin() + offset, slices.length, to);
    }
  });
  return {std::move(y)};
}

}  // namespace

SliceTargets slice_targets(const Call& call, std::int64_t batch_dims) {
  const Shape& shape = call.input(0).shape();
  const Tensor& indices = call.input(1);
  const Shape& index_shape = indices.shape();
  const auto batch = static_cast<std::size_t>(batch_dims);
  const std::int64_t depth = index_shape.empty() ? -1 : index_shape.back();
  bool fits = !index_shape.empty() && batch < index_shape.size() && batch <= shape.size() &&
              depth >= 0 && static_cast<std::size_t>(depth) + batch <= shape.size();
  for (std::size_t d = 0; d < batch && fits; ++d) fits = shape[d] == index_shape[d];
  if (!fits) {
    fail(call.name_of(1) + " of shape " + to_string(std::span<const std::int64_t>(index_shape)) +
         " cannot index data of shape " + to_string(std::span<const std::int64_t>(shape)));
  }
  const auto width = static_cast<std::size_t>(depth);
  const Shape strides = contiguous_strides(shape);
  SliceTargets result;
  result.trailing = shape.size() - batch - width;
  result.length = extent_product(shape, batch + width, shape.size());
  const std::int64_t tuples = extent_product(index_shape, 0, index_shape.size() - 1);
  const std::int64_t batches = extent_product(index_shape, 0, batch);
  const std::int64_t per_batch = batches == 0 ? 0 : tuples / batches;
  const std::int64_t batch_stride = extent_product(shape, batch, shape.size());
  const std::vector<std::int64_t> values = indices.ints();
  for (std::int64_t t = 0; t < tuples; ++t) {
    std::int64_t offset = t / per_batch * batch_stride;
    for (std::size_t w = 0; w < width; ++w) {
      const std::int64_t element = t * depth + static_cast<std::int64_t>(w);
      offset += checked_index(call, 1, element, values[static_cast<std::size_t>(element)],
                              shape[batch + w]) *
                strides[batch + w];
    }
    result.offsets.push_back(offset);
  }
  return result;
}

const Kernel host_gather_nd{nullptr, run, true};

}  // namespace concord::host
