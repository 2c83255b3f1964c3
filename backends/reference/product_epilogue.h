#pragma once

#include <optional>

#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/rows.h"

namespace concord::reference {

// What follows the product: y = act(alpha·p + bias) + residual.
template <typename N>
class ProductEpilogue {
 public:
  // `bias` and `residual` are numbers of inputs.
  ProductEpilogue(const Call& call, const Shape& shape, std::size_t bias, std::size_t residual)
      : alpha_(call.attrs().number("alpha", 1)),
        bias_(call.data(bias)),
        residual_(call.data(residual)),
        unit_(call.unit()),
        act_alpha_(call.attrs().number("act_alpha", 0)),
        act_beta_(call.attrs().number("act_beta", 0)),
        rows_(shape, {call.has(bias) ? call.shape(bias) : Shape{},
                      call.has(residual) ? call.shape(residual) : Shape{}}) {
    if (call.attrs().has("activation")) {
      activation_ = graph::parse_unary(call.attrs().text("activation"));
    }
  }

  // Elements [begin, end) of the output, from products given by p(i).
  template <typename P>
  void apply(Output<N>& y, std::int64_t begin, std::int64_t end, P&& p) const {
    rows_.visit(
        begin, end,
        [&](std::int64_t first, std::int64_t n, const std::int64_t* at, const std::int64_t* step) {
          for (std::int64_t i = 0; i < n; ++i) {
            N value = p(first + i);
            if (alpha_ != 1) value = number<N>(alpha_) * value;
            if (bias_ != nullptr) value = value + number<N>(bias_[at[0] + i * step[0]]);
            if (activation_) value = unary(*activation_, value, act_alpha_, act_beta_, unit_);
            if (residual_ != nullptr) {
              value = value + number<N>(residual_[at[1] + i * step[1]]);
            }
            y.set(first + i, value);
          }
        });
  }

 private:
  double alpha_;
  const double* bias_;
  const double* residual_;
  double unit_;
  double act_alpha_;
  double act_beta_;
  std::optional<graph::UnaryFn> activation_;
  Rows rows_;
};

}  // namespace concord::reference
