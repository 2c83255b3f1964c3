#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// ONNX's form: 0 copies the extent at its place (unless allow_zero), one −1 takes what is left.
Shape resolve(const Call& call, Shape wanted) {
  const Shape& from = call.input(0).shape();
  const bool zero_is_zero = call.node.attrs.integer("allow_zero", 0) != 0;
  const std::string shown = to_string(std::span<const std::int64_t>(wanted));
  std::size_t open = wanted.size();
  std::int64_t known = 1;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == 0 && !zero_is_zero) {
      if (d >= from.size()) {
        fail("shape " + shown + " copies extent " + std::to_string(d) +
             ", which a tensor of shape " + to_string(std::span<const std::int64_t>(from)) +
             " does not have");
      }
      wanted[d] = from[d];
    }
    if (wanted[d] == -1 && open == wanted.size()) {
      open = d;
    } else if (wanted[d] < 0) {
      fail("shape " + shown + " has a negative extent");
    } else if (__builtin_mul_overflow(known, wanted[d], &known)) {
      fail("shape " + shown + " has too many elements");
    }
  }
  if (open < wanted.size()) {
    const std::int64_t count = call.input(0).count();
    wanted[open] = known == 0 ? 0 : count / known;
  }
  return wanted;
}

std::vector<Tensor> run(const Call& call) {
  Shape shape = call.list("shape", 1);
  if (!call.node.attrs.has("shape")) shape = resolve(call, std::move(shape));
  return {call.input(0).reshaped(std::move(shape))};
}

}  // namespace

const Kernel host_reshape{nullptr, run, true};

}  // namespace concord::host
