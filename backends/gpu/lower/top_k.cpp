#include "backends/gpu/kernels/top_k.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

// Halves are compared as f32, which holds them.
DataType computed_type(DataType storage) {
  return storage == DataType::f16 ? DataType::f32 : storage;
}

std::string kernel_name(const DeviceProperties& device, DataType type) {
  const bool narrow = device.is_cpu_driver && device.subgroup_size >= 8;
  return std::string("top_k_wave") + (narrow ? "8" : "256") + "_" + type_suffix(type);
}

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(kernel_name(query.properties, computed_type(query.in(0))));
}

void lower(NodeLowering& node) {
  using Params = kernels::TopKParams;
  const Operand x = emit_cast(node, node.in(0), computed_type(node.in_type(0)));
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int64_t k = node.dim("k");
  const std::int64_t length = x.shape[axis];
  if (k < 0 || k > length) {
    throw Error(ErrorKind::invalid, "k is " + std::to_string(k) + ", the axis has " +
                                        std::to_string(length) + " elements");
  }
  Shape shape = x.shape;
  shape[axis] = k;
  const bool whole = node.has_out(0) && node.out_type(0) == x.dtype;
  const Operand values = whole ? node.out(0) : node.temporary(x.dtype, shape);
  const Operand indices = node.has_out(1) ? node.out(1) : node.temporary(DataType::i32, shape);
  if (values.count() > 0) {
    Params params{node.read(x), node.write(values), node.write(indices)};
    params.lines = to_i32(x.count() / length);
    params.length = to_i32(length);
    params.inner = to_i32(element_count(std::span(x.shape).subspan(axis + 1)));
    params.k = to_i32(k);
    params.largest = node.attrs().integer("largest", 1) != 0 ? 1 : 0;
    node.dispatch(node.kernel<Params>(kernel_name(node.properties(), x.dtype)),
                  flat_groups(params.lines, 1), params);
  }
  if (node.has_out(0) && !whole) emit_cast(node, values, node.out(0), false);
}

}  // namespace

const Lowering gpu_top_k{why, lower};

}  // namespace concord::gpu
