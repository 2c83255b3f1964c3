#pragma once

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/planner.h"
#include "graph/geometry.h"

namespace concord::cpu {

// Images [N, C, s…] are kept channels last in memory where their readers allow it: views whose
// channel stride is 1.

// Strides of [N, C, s…] that lies as [N, s…, C].
Dims channels_last_strides(const Dims& shape);
bool is_channels_last(const View& view);

// The image with a channel stride of 1, copied if it does not lie so; in f32 the second.
View channels_last(Planner& p, const View& view);
View channels_last_f32(Planner& p, int input);

// An f32 result to be written channels last, densely. finish_channels_last turns it where the
// output's readers need it otherwise, and converts it to a 16-bit type.
struct ImageResult {
  Ref at;      // write here: [N, s…, C]
  Ref dense;   // then here: [N, C, s…], if it has to be turned
  Dims shape;  // [N, C, s…]
};
ImageResult start_channels_last(Planner& p, int output = 0);
void finish_channels_last(Planner& p, const ImageResult& result);

// The window along up to three spatial axes, the unused ones first.
void set_extents(const graph::ConvGeometry& geometry, ConvExtents& extents);

}  // namespace concord::cpu
