#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

struct Box {
  double x0, y0, x1, y1;
  double area() const { return (x1 - x0) * (y1 - y0); }
};

Box box_of(const double* p, bool center) {
  if (center) {
    return {p[0] - p[2] / 2, p[1] - p[3] / 2, p[0] + p[2] / 2, p[1] + p[3] / 2};
  }
  return {std::min(p[1], p[3]), std::min(p[0], p[2]), std::max(p[1], p[3]), std::max(p[0], p[2])};
}

// Intersection over union, rounded to float32, the type that models hold the threshold in: boxes
// that meet it exactly are kept on every machine.
float overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(width > 0) || !(height > 0)) return 0;
  const double shared = width * height;
  const double joined = a.area() + b.area() - shared;
  return joined > 0 ? static_cast<float>(shared / joined) : 0.0F;
}

// Whether the operand is given; it must hold one element then (or none, as if it were omitted).
bool has_scalar(const Call& call, std::size_t operand) {
  if (!call.has(operand) || call.input(operand).count() == 0) return false;
  if (call.input(operand).count() == 1) return true;
  fail(call.name_of(operand) + " must hold one element and holds " +
       std::to_string(call.input(operand).count()));
}

std::vector<Tensor> run(const Call& call) {
  const Shape& boxes = call.input(0).shape();   // [batch, n, 4]
  const Shape& scores = call.input(1).shape();  // [batch, classes, n]
  if (boxes.size() != 3 || scores.size() != 3 || boxes[0] != scores[0] || boxes[1] != scores[2] ||
      boxes[2] != 4) {
    fail("boxes of shape " + to_string(std::span<const std::int64_t>(boxes)) +
         " do not fit scores of shape " + to_string(std::span<const std::int64_t>(scores)));
  }
  const bool center = call.node.attrs.integer("center") != 0;
  const std::int64_t most = has_scalar(call, 2) ? call.input(2).at_int(0) : 0;
  const float threshold =
      has_scalar(call, 3) ? static_cast<float>(call.input(3).at_double(0)) : 0.0F;
  const bool filters = has_scalar(call, 4);
  const double least = filters ? call.input(4).at_double(0) : 0;
  const std::vector<double> corners = doubles(call.input(0));
  const std::vector<double> values = doubles(call.input(1));
  const std::int64_t n = boxes[1];

  std::vector<std::int64_t> selected;
  std::vector<std::int64_t> order;
  std::vector<Box> kept;
  for (std::int64_t batch = 0; batch < boxes[0]; ++batch) {
    for (std::int64_t c = 0; c < scores[1]; ++c) {
      const double* score = values.data() + (batch * scores[1] + c) * n;
      order.clear();
      for (std::int64_t i = 0; i < n; ++i) {
        if (!filters || score[i] > least) order.push_back(i);
      }
      // The best first, of equal ones the earlier box; NaN last.
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        if (std::isnan(score[a]) || std::isnan(score[b])) {
          return !std::isnan(score[a]) && std::isnan(score[b]);
        }
        return score[a] > score[b];
      });
      kept.clear();
      for (const std::int64_t i : order) {
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        const Box box = box_of(corners.data() + (batch * n + i) * 4, center);
        const bool hidden = std::any_of(kept.begin(), kept.end(), [&](const Box& other) {
          return overlap(box, other) > threshold;
        });
        if (hidden) continue;
        kept.push_back(box);
        selected.insert(selected.end(), {batch, c, i});
      }
    }
  }
  const auto count = static_cast<std::int64_t>(selected.size()) / 3;
  return {Tensor::of<std::int64_t>({count, 3}, selected)};
}

}  // namespace

const Kernel host_non_max_suppression{nullptr, run};

}  // namespace concord::host
