#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/host/elements.h"
#include "backends/reference/number.h"
#include "backends/reference/oracle.h"
#include "backends/reference/parallel.h"

namespace concord::reference {

struct GraphOptions;

// One call of a kernel. Float operands are float64 here, whatever the graph declares.
struct Call {
  const graph::Graph& graph;
  const graph::Node& node;
  std::span<const OracleValue> inputs;  // omitted ones hold undefined tensors
  const Bindings& bindings;
  const Numerics& numerics;
  const GraphOptions* options = nullptr;  // of the run that this belongs to, for bodies

  const graph::Attributes& attrs() const { return node.attrs; }
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].value.defined(); }
  const Tensor& input(std::size_t i) const;  // throws Error(failed) if omitted
  const Shape& shape(std::size_t i) const { return input(i).shape(); }
  std::int64_t extent(std::size_t i, std::size_t axis) const;
  // Elements of a float operand; null if it is omitted.
  const double* data(std::size_t i) const;
  DataType declared_input(std::size_t i) const {
    return has(i) ? inputs[i].declared : DataType::undefined;
  }
  // The graph's type of an output; that of the first input if the graph does not say.
  DataType declared_output(std::size_t i) const;
  bool wants_output(std::size_t i) const {
    return i < node.outputs.size() && node.outputs[i].valid();
  }
  // The values alone, as the host's kernels and graph/geometry.h take them.
  std::vector<Tensor> tensors() const;

  // Unit roundoff of the type that the step computes in: the unit of Uncertain.
  double unit() const;
  // (u_operand / unit)², TF32 taken into account.
  double operand_rounding() const;
  // Whether a float operand is rounded to the step's operand type first, as (u_operand / unit)²; 0
  // if the type that it has fits. For Sum::result.
  double conversion(DataType declared) const;
  double conversion(std::size_t i) const { return conversion(declared_input(i)); }
  // Both operands of a product.
  double conversions(std::size_t a, std::size_t b) const { return conversion(a) + conversion(b); }
};

// One core operator of the oracle. Each backends/reference/<op>.cpp defines `reference_<op>`; what
// only moves or counts goes to the host (through_host.cpp).
struct Kernel {
  std::vector<OracleValue> (*run)(const Call& call);
};

#define CONCORD_OP(name) extern const Kernel reference_##name;
#include "graph/ops.def"
#undef CONCORD_OP

// Runs the node on the host, on float64 where it moves floats.
std::vector<OracleValue> through_host(const Call& call);

// A float output under way.
template <typename N>
class Output {
 public:
  using Real = real_t<N>;

  Output(const Call& call, std::size_t index, Shape shape)
      : declared_(call.declared_output(index)),
        unit_(call.unit()),
        value_(DataType::f64, shape),
        values_(host::raw_mutable<double>(value_).data()) {
    if constexpr (kUncertain<N>) {
      sigma_ = Tensor(DataType::f64, std::move(shape));
      sigmas_ = host::raw_mutable<double>(sigma_).data();
    }
  }

  std::int64_t count() const { return value_.count(); }
  const Shape& shape() const { return value_.shape(); }
  void set(std::int64_t i, const N& y) {
    values_[i] = static_cast<double>(value_of(y));
    if constexpr (kUncertain<N>) {
      // An error of an infinite or undefined value has no size.
      const bool finite = std::isfinite(y.value) && std::isfinite(y.variance);
      sigmas_[i] = finite ? unit_ * static_cast<double>(std::sqrt(y.variance)) : 0;
    }
  }
  // With the overflow flag set where the declared type has no such value.
  OracleValue finish();

 private:
  DataType declared_;
  double unit_;
  Tensor value_;
  Tensor sigma_;
  double* values_;
  double* sigmas_ = nullptr;
};

// A float result whose σ is 0.
OracleValue exact_output(const Call& call, std::size_t index, Tensor value);
// Whether an element is finite and larger than the type's largest number.
bool overflows(const Tensor& wide, DataType declared);

template <typename N>
OracleValue Output<N>::finish() {
  OracleValue result;
  result.overflow = overflows(value_, declared_);
  result.value = std::move(value_);
  result.declared = declared_;
  result.sigma = std::move(sigma_);
  return result;
}

// f(host::Tag<N>{}) with the number type that the call asks for.
template <typename F>
auto with_number(const Call& call, F&& f) {
  bool wide = call.declared_output(0) == DataType::f64;
  for (const OracleValue& input : call.inputs) wide = wide || input.declared == DataType::f64;
  if (call.numerics.sigma) {
    return wide ? f(host::Tag<Uncertain<long double>>{}) : f(host::Tag<Uncertain<double>>{});
  }
  return wide ? f(host::Tag<long double>{}) : f(host::Tag<double>{});
}

}  // namespace concord::reference
