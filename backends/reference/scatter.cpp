#include "backends/reference/scatter.h"

#include "graph/error.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call, const std::vector<std::int64_t>& offsets,
                                 std::int64_t length) {
  const bool adds = call.attrs().text("reduction") == "add";
  const double* x = call.data(0);
  const double* updates = call.data(2);
  if (call.input(2).count() != static_cast<std::int64_t>(offsets.size()) * length) {
    throw Error(ErrorKind::invalid,
                "there are " + std::to_string(call.input(2).count()) + " updates for " +
                    std::to_string(static_cast<std::int64_t>(offsets.size()) * length) + " places");
  }
  std::vector<N> values;
  values.reserve(static_cast<std::size_t>(call.input(0).count()));
  for (std::int64_t i = 0; i < call.input(0).count(); ++i) values.push_back(number<N>(x[i]));
  for (const std::int64_t offset : offsets) {
    for (std::int64_t i = 0; i < length; ++i) {
      N& value = values[static_cast<std::size_t>(offset + i)];
      const N update = number<N>(*updates++);
      value = adds ? value + update : value * update;
    }
  }
  Output<N> y(call, 0, call.shape(0));
  for (std::int64_t i = 0; i < y.count(); ++i) y.set(i, values[static_cast<std::size_t>(i)]);
  return {y.finish()};
}

}  // namespace

bool scatter_computes(const Call& call) {
  const std::string reduction = call.attrs().text("reduction", "none");
  return is_float(call.declared_input(0)) && (reduction == "add" || reduction == "mul");
}

std::vector<OracleValue> run_scatter(const Call& call, const std::vector<std::int64_t>& offsets,
                                     std::int64_t length) {
  return with_number(
      call, [&](auto tag) { return compute<typename decltype(tag)::type>(call, offsets, length); });
}

}  // namespace concord::reference
