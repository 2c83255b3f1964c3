#pragma once

#include "graph/passes.h"

// The passes, each in the file of its name; the table in passes.cpp gives order and summaries.
namespace concord::graph {

int inline_captures(Graph& graph, const PassOptions& options);
int fold_shapes(Graph& graph, const PassOptions& options);
int fold_constants(Graph& graph, const PassOptions& options);
int simplify(Graph& graph, const PassOptions& options);
int remove_duplicates(Graph& graph, const PassOptions& options);
int remove_dead(Graph& graph, const PassOptions& options);

int fuse_gelu(Graph& graph, const PassOptions& options);
int fuse_swish(Graph& graph, const PassOptions& options);
int fuse_norm(Graph& graph, const PassOptions& options);
int fuse_rotary(Graph& graph, const PassOptions& options);
int fuse_attention(Graph& graph, const PassOptions& options);
int fuse_matmul_nbits(Graph& graph, const PassOptions& options);
int fuse_quantised(Graph& graph, const PassOptions& options);
int fuse_matmul(Graph& graph, const PassOptions& options);
int fuse_matmul_integer(Graph& graph, const PassOptions& options);
int fuse_conv(Graph& graph, const PassOptions& options);
int fuse_requantised(Graph& graph, const PassOptions& options);
int fuse_residual_norm(Graph& graph, const PassOptions& options);
int fuse_elementwise(Graph& graph, const PassOptions& options);

}  // namespace concord::graph
