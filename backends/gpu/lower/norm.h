#pragma once

#include <optional>
#include <string>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// Layer and RMS norm differ in the kernel and in which inputs they have.
struct NormForm {
  std::string kernel;  // "norm_layer_"
  bool has_beta = false;
};

std::optional<std::string> why_no_norm(const Query& query, const NormForm& form);
void lower_norm(NodeLowering& node, const NormForm& form);

}  // namespace concord::gpu
