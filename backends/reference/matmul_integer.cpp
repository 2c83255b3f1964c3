#include "backends/host/host.h"
#include "backends/reference/product_epilogue.h"
#include "backends/reference/rounding.h"

namespace concord::reference {
namespace {

enum : std::size_t { kScale = 4, kBias = 5, kResidual = 6 };

// The exact sums, rounded to float as the model's cast does it, scaled; then the epilogue.
template <typename N>
std::vector<OracleValue> scaled(const Call& call, const Tensor& sums) {
  Output<N> y(call, 0, sums.shape());
  const ProductEpilogue<N> epilogue(call, sums.shape(), kBias, kResidual);
  const auto integers = sums.as<std::int32_t>();
  const double* scale = call.data(kScale);
  const bool per_column = element_count(call.shape(kScale)) != 1;
  const std::int64_t n = sums.shape().back();
  parallel_for(y.count(), grain_for(20), [&](std::int64_t begin, std::int64_t end) {
    epilogue.apply(y, begin, end, [&](std::int64_t i) {
      const double sum = round_to(DataType::f32, integers[static_cast<std::size_t>(i)]);
      return number<N>(sum) * number<N>(scale[per_column ? i % n : 0]);
    });
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  graph::Node integer = call.node;
  integer.inputs.resize(std::min<std::size_t>(integer.inputs.size(), kScale));
  std::vector<Tensor> inputs = call.tensors();
  inputs.resize(integer.inputs.size());
  std::vector<Tensor> sums = host::run(call.graph, integer, inputs, call.bindings);
  if (!call.has(kScale)) return {exact_output(call, 0, std::move(sums[0]))};
  return with_number(call,
                     [&](auto tag) { return scaled<typename decltype(tag)::type>(call, sums[0]); });
}

}  // namespace

const Kernel reference_matmul_integer{run};

}  // namespace concord::reference
