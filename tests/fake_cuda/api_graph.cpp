// Graphs.

#include <algorithm>
#include <string>

#include "tests/fake_cuda/entry.h"

namespace fake_cuda {
namespace {

CUresult add(State& state, CUgraphNode* handle, CUgraph graph, const CUgraphNode* after,
             std::size_t count, std::unique_ptr<Node> node) {
  GraphState* found = find(state, state.graphs, graph, "graph");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = std::ranges::find_if(found->nodes, [&](const std::unique_ptr<Node>& one) {
      return one.get() == reinterpret_cast<const Node*>(after[i]);
    });
    if (at == found->nodes.end()) {
      return state.refuse(CUDA_ERROR_INVALID_VALUE, "a node depends on one of another graph");
    }
    node->after.push_back(static_cast<std::size_t>(at - found->nodes.begin()));
  }
  *handle = reinterpret_cast<CUgraphNode>(node.get());
  found->nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

CUresult make_copy(State& state, const CUDA_MEMCPY3D* copy, Op& op) {
  if (copy->Height != 1 || copy->Depth != 1) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "a copy of more than one row");
  }
  const std::size_t bytes = copy->WidthInBytes;
  Range from;
  Range to;
  CUresult result = copy->srcMemoryType == CU_MEMORYTYPE_HOST
                        ? find_pinned(copy->srcHost, bytes, "a copy's source", from)
                        : find_range(copy->srcDevice, bytes, "a copy's source", from);
  if (result != CUDA_SUCCESS) return result;
  result = copy->dstMemoryType == CU_MEMORYTYPE_HOST
               ? find_pinned(copy->dstHost, bytes, "a copy's target", to)
               : find_range(copy->dstDevice, bytes, "a copy's target", to);
  op = {CopyOp{from, to, bytes}, {from.allocation, to.allocation}};
  return result;
}

CUresult make_fill(State& state, const CUDA_MEMSET_NODE_PARAMS* fill, Op& op) {
  if (fill->elementSize != 4 || fill->height != 1) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "a fill of other than one row of words");
  }
  Range to;
  const CUresult result = find_range(fill->dst, fill->width * 4, "a fill", to);
  op = {FillOp{to, fill->width, fill->value}, {to.allocation}};
  return result;
}

CUresult make_launch_of(const CUDA_KERNEL_NODE_PARAMS* p, Op& op) {
  return make_launch(p->func, {p->gridDimX, p->gridDimY, p->gridDimZ},
                     {p->blockDimX, p->blockDimY, p->blockDimZ}, p->kernelParams, p->extra, op);
}

// The instantiated node that was made from `node`.
Node* node_in(State& state, CUgraphExec exec, CUgraphNode node) {
  GraphState* found = find(state, state.execs, exec, "instantiated graph");
  if (found == nullptr) return nullptr;
  for (const auto& [key, graph] : state.graphs) {
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
      if (graph->nodes[i].get() != reinterpret_cast<Node*>(node)) continue;
      if (i < found->nodes.size()) return found->nodes[i].get();
    }
  }
  state.refuse(CUDA_ERROR_INVALID_VALUE, "unknown node");
  return nullptr;
}

// Takes `op` into an instantiated node, which must have the same kind.
CUresult set(State& state, CUgraphExec exec, CUgraphNode handle, Op op) {
  Node* node = node_in(state, exec, handle);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (node->op.what.index() != op.what.index()) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "a node is updated to another kind");
  }
  if (const auto* copy = std::get_if<CopyOp>(&node->op.what)) {
    const auto& other = std::get<CopyOp>(op.what);
    if (copy->from.allocation->pinned != other.from.allocation->pinned ||
        copy->to.allocation->pinned != other.to.allocation->pinned) {
      return state.refuse(CUDA_ERROR_INVALID_VALUE, "a copy is updated to another kind of memory");
    }
  }
  node->op = std::move(op);
  return CUDA_SUCCESS;
}

std::shared_ptr<GraphState> copy_of(const GraphState& graph) {
  auto made = std::make_shared<GraphState>();
  for (const std::unique_ptr<Node>& node : graph.nodes) {
    made->nodes.push_back(std::make_unique<Node>(*node));
    if (node->child != nullptr) made->nodes.back()->child = copy_of(*node->child);
  }
  return made;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  FAKE_CUDA_ENTER("cuGraphCreate");
  auto made = std::make_shared<GraphState>();
  *graph = reinterpret_cast<CUgraph>(made.get());
  state.graphs[*graph] = std::move(made);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  FAKE_CUDA_ENTER("cuGraphDestroy");
  return state.graphs.erase(graph) == 1 ? CUDA_SUCCESS
                                        : state.refuse(CUDA_ERROR_INVALID_VALUE, "unknown graph");
}

FAKE_CUDA_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph,
                                               const CUgraphNode* after, std::size_t count,
                                               const CUDA_KERNEL_NODE_PARAMS* params) {
  FAKE_CUDA_ENTER("cuGraphAddKernelNode");
  auto made = std::make_unique<Node>();
  const CUresult result = make_launch_of(params, made->op);
  return result != CUDA_SUCCESS ? result : add(state, node, graph, after, count, std::move(made));
}

FAKE_CUDA_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph,
                                               const CUgraphNode* after, std::size_t count,
                                               const CUDA_MEMCPY3D* params, CUcontext) {
  FAKE_CUDA_ENTER("cuGraphAddMemcpyNode");
  auto made = std::make_unique<Node>();
  const CUresult result = make_copy(state, params, made->op);
  return result != CUDA_SUCCESS ? result : add(state, node, graph, after, count, std::move(made));
}

FAKE_CUDA_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph,
                                               const CUgraphNode* after, std::size_t count,
                                               const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  FAKE_CUDA_ENTER("cuGraphAddMemsetNode");
  auto made = std::make_unique<Node>();
  const CUresult result = make_fill(state, params, made->op);
  return result != CUDA_SUCCESS ? result : add(state, node, graph, after, count, std::move(made));
}

FAKE_CUDA_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph,
                                              const CUgraphNode* after, std::size_t count) {
  FAKE_CUDA_ENTER("cuGraphAddEmptyNode");
  return add(state, node, graph, after, count, std::make_unique<Node>());
}

FAKE_CUDA_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph,
                                                   const CUgraphNode* after, std::size_t count,
                                                   CUgraph child) {
  FAKE_CUDA_ENTER("cuGraphAddChildGraphNode");
  const GraphState* found = find(state, state.graphs, child, "graph");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto made = std::make_unique<Node>();
  made->child = copy_of(*found);
  return add(state, node, graph, after, count, std::move(made));
}

FAKE_CUDA_EXPORT CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  FAKE_CUDA_ENTER("cuGraphInstantiate");
  const GraphState* found = find(state, state.graphs, graph, "graph");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto made = copy_of(*found);
  *exec = reinterpret_cast<CUgraphExec>(made.get());
  state.execs[*exec] = std::move(made);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
  FAKE_CUDA_ENTER("cuGraphExecDestroy");
  return state.execs.erase(exec) == 1
             ? CUDA_SUCCESS
             : state.refuse(CUDA_ERROR_INVALID_VALUE, "unknown instantiated graph");
}

FAKE_CUDA_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  FAKE_CUDA_ENTER("cuGraphLaunch");
  const GraphState* graph = find(state, state.execs, exec, "instantiated graph");
  Stream* found = find(state, state.streams, stream, "stream");
  if (graph == nullptr || found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return enqueue_graph(*found, *graph);
}

FAKE_CUDA_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                         const CUDA_KERNEL_NODE_PARAMS* params) {
  FAKE_CUDA_ENTER("cuGraphExecKernelNodeSetParams");
  Op op;
  const CUresult result = make_launch_of(params, op);
  return result != CUDA_SUCCESS ? result : set(state, exec, node, std::move(op));
}

FAKE_CUDA_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                         const CUDA_MEMCPY3D* params, CUcontext) {
  FAKE_CUDA_ENTER("cuGraphExecMemcpyNodeSetParams");
  Op op;
  const CUresult result = make_copy(state, params, op);
  return result != CUDA_SUCCESS ? result : set(state, exec, node, std::move(op));
}

FAKE_CUDA_EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                         const CUDA_MEMSET_NODE_PARAMS* params,
                                                         CUcontext) {
  FAKE_CUDA_ENTER("cuGraphExecMemsetNodeSetParams");
  Op op;
  const CUresult result = make_fill(state, params, op);
  return result != CUDA_SUCCESS ? result : set(state, exec, node, std::move(op));
}

FAKE_CUDA_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode handle,
                                                             CUgraph child) {
  FAKE_CUDA_ENTER("cuGraphExecChildGraphNodeSetParams");
  const GraphState* found = find(state, state.graphs, child, "graph");
  Node* node = node_in(state, exec, handle);
  if (found == nullptr || node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (node->child == nullptr || node->child->nodes.size() != found->nodes.size()) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "a child graph of another form");
  }
  node->child = copy_of(*found);
  return CUDA_SUCCESS;
}

}  // namespace fake_cuda
