#include <cmath>

#include "backends/host/cast.h"
#include "backends/reference/kernel.h"
#include "backends/reference/quantization.h"
#include "backends/reference/rounding.h"
#include "backends/reference/window.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// The part of the window at output o that f is called for: f(place along the input, inside).
template <typename F>
void along(const Window3::Axis& a, std::int64_t o, F&& f) {
  for (std::int64_t k = 0; k < a.kernel; ++k) f(o * a.stride - a.pad_begin + k * a.dilation);
}

// Places of the window at an output position that lie within the input, in order; and how many lie
// within input and padding (a last window may reach further).
struct Reach {
  std::vector<std::int64_t> inputs;
  std::int64_t padded = 0;
};

Reach reach_of(const Window3& w, std::int64_t position) {
  const Window3::Axis& d = w.axes[0];
  const Window3::Axis& h = w.axes[1];
  const Window3::Axis& v = w.axes[2];
  const auto place = unravel(position, h.output, v.output);
  const auto within = [](const Window3::Axis& a, std::int64_t i) { return i >= 0 && i < a.input; };
  const auto padded = [](const Window3::Axis& a, std::int64_t i) {
    return i >= -a.pad_begin && i < a.input + a.pad_end;
  };
  Reach reach;
  along(d, place[0], [&](std::int64_t id) {
    along(h, place[1], [&](std::int64_t ih) {
      along(v, place[2], [&](std::int64_t iv) {
        if (padded(d, id) && padded(h, ih) && padded(v, iv)) ++reach.padded;
        if (within(d, id) && within(h, ih) && within(v, iv)) {
          reach.inputs.push_back((id * h.input + ih) * v.input + iv);
        }
      });
    });
  });
  return reach;
}

template <typename N>
N average(const double* plane, const Reach& reach, bool include_pad) {
  Sum<N> sum;
  for (const std::int64_t i : reach.inputs) sum.add(number<N>(plane[i]));
  const auto count = include_pad ? reach.padded : static_cast<std::int64_t>(reach.inputs.size());
  return sum.result() / number<N>(static_cast<double>(count));
}

template <typename N>
N lp_norm(const double* plane, const Reach& reach, std::int64_t p) {
  Sum<N> sum;
  for (const std::int64_t i : reach.inputs) {
    const N x = number<N>(std::abs(plane[i]));
    if (p == 1) {
      sum.add(x);
    } else if (p == 2) {
      sum.add_product(x, x);
    } else {
      sum.add(pow(x, number<N>(static_cast<double>(p))));
    }
  }
  if (p == 1) return sum.result();
  if (p == 2) return sqrt(sum.result());
  return pow(sum.result(), number<N>(1) / number<N>(static_cast<double>(p)));
}

// The first of the largest; NaN is larger than all.
std::int64_t largest(const double* plane, const Reach& reach) {
  std::int64_t best = reach.inputs.front();
  for (const std::int64_t i : reach.inputs) {
    if (std::isnan(plane[best])) break;
    if (std::isnan(plane[i]) || plane[i] > plane[best]) best = i;
  }
  return best;
}

// Element of the input as its index output counts it: over the whole tensor; with `columns`, the
// spatial part in column-major order.
std::int64_t index_of(const Window3& w, std::int64_t plane, std::int64_t at, bool columns) {
  const auto& [d, h, v] = w.axes;
  if (columns) {
    const auto [id, ih, iv] = unravel(at, h.input, v.input);
    at = (iv * h.input + ih) * d.input + id;
  }
  return plane * w.input_size() + at;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const graph::ConvGeometry g = graph::pool_geometry(call.node, call.shape(0));
  const Window3 w(g.window);
  const std::string& fn = call.attrs().text("fn");
  const bool include_pad = call.attrs().integer("count_include_pad", 0) != 0;
  const bool columns = call.attrs().integer("storage_order", 0) != 0;
  const std::int64_t p = call.attrs().integer("p", 2);
  const std::vector<double> x = real_values(call.input(0));
  const std::int64_t positions = w.output_size();
  std::vector<Reach> reaches;
  for (std::int64_t o = 0; o < positions; ++o) {
    reaches.push_back(reach_of(w, o));
    if (reaches.back().inputs.empty() && fn == "max") {
      throw Error(ErrorKind::invalid, "a pooling window lies in the padding altogether");
    }
  }
  Output<N> y(call, 0, g.output);
  const bool wants_indices = fn == "max" && call.wants_output(1);
  Tensor indices(DataType::i64, wants_indices ? g.output : Shape{0});
  const auto chosen = indices.as_mutable<std::int64_t>();
  parallel_for(g.batch * g.out_channels,
               grain_for(4.0 * static_cast<double>(positions * w.kernel_size())),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t c = begin; c < end; ++c) {
                   const double* plane = x.data() + c * w.input_size();
                   for (std::int64_t o = 0; o < positions; ++o) {
                     const Reach& reach = reaches[static_cast<std::size_t>(o)];
                     const std::int64_t at = c * positions + o;
                     if (fn == "average") {
                       y.set(at, average<N>(plane, reach, include_pad));
                     } else if (fn == "lp") {
                       y.set(at, lp_norm<N>(plane, reach, p));
                     } else {
                       const std::int64_t best = largest(plane, reach);
                       y.set(at, number<N>(plane[best]));
                       if (wants_indices) {
                         chosen[static_cast<std::size_t>(at)] = index_of(w, c, best, columns);
                       }
                     }
                   }
                 }
               });
  std::vector<OracleValue> results;
  results.push_back(y.finish());
  const DataType dtype = call.input(0).dtype();
  if (!is_float(dtype))
    results[0] = exact_output(call, 0, host::cast(results[0].value, dtype, true));
  if (call.node.outputs.size() > 1) {
    results.push_back(wants_indices ? exact_output(call, 1, std::move(indices)) : OracleValue{});
  }
  return results;
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_pool{run};

}  // namespace concord::reference
