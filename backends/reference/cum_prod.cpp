#include "backends/reference/cumulative.h"

namespace concord::reference {
namespace {

// Each product is rounded; other orders round no more often.
template <typename N>
class Product {
 public:
  void add(const N& factor) {
    value_ = empty_ ? factor : value_ * factor;
    empty_ = false;
  }
  N result() const { return value_; }

 private:
  N value_ = number<N>(1);
  bool empty_ = true;
};

std::vector<OracleValue> run(const Call& call) {
  if (!is_float(call.declared_input(0))) return through_host(call);
  return with_number(call, [&](auto tag) {
    using N = typename decltype(tag)::type;
    return cumulative<N, Product<N>>(call);
  });
}

}  // namespace

const Kernel reference_cum_prod{run};

}  // namespace concord::reference
