#include "backends/cuda/graph.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace concord::cuda {
namespace {

using gpu::Command;

CUDA_KERNEL_NODE_PARAMS node_params(const Launch& launch, ParamBlock& params) {
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = launch.function;
  node.gridDimX = launch.grid[0];
  node.gridDimY = launch.grid[1];
  node.gridDimZ = launch.grid[2];
  node.blockDimX = launch.block[0];
  node.blockDimY = launch.block[1];
  node.blockDimZ = launch.block[2];
  node.extra = params.extra();
  return node;
}

CUDA_MEMCPY3D node_params(const gpu::CopyCommand& command) {
  CUDA_MEMCPY3D copy{};
  if (const std::byte* host = command.from.memory->host()) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host + command.from.offset;
  } else {
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = address_of(command.from);
  }
  if (std::byte* host = command.to.memory->host()) {
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host + command.to.offset;
  } else {
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = address_of(command.to);
  }
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = command.from.bytes;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return copy;
}

CUDA_MEMSET_NODE_PARAMS node_params(const gpu::FillCommand& command) {
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = address_of(command.to);
  fill.pitch = command.to.bytes;
  fill.value = command.value;
  fill.elementSize = 4;
  fill.width = command.to.bytes / 4;
  fill.height = 1;
  return fill;
}

}  // namespace

Graph::Made Graph::made_of(const Command& command) {
  Made made;
  made.kind = command.index();
  made.empty = Launcher::is_empty(command);
  if (made.empty) return made;  // there may be no memory behind it
  if (const auto* dispatch = std::get_if<gpu::DispatchCommand>(&command)) {
    made.kernel = dispatch->kernel;
    made.groups = dispatch->groups;
    made.params = dispatch->params;
  } else if (const auto* copy = std::get_if<gpu::CopyCommand>(&command)) {
    made.from_host = copy->from.memory->host() != nullptr;
    made.to_host = copy->to.memory->host() != nullptr;
    made.from = address_of(copy->from);
    made.to = address_of(copy->to);
    made.bytes = copy->from.bytes;
  } else if (const auto* fill = std::get_if<gpu::FillCommand>(&command)) {
    made.to = address_of(fill->to);
    made.bytes = fill->to.bytes;
    made.value = fill->value;
  } else if (const auto* matmul = std::get_if<gpu::LibraryMatmulCommand>(&command)) {
    made.matmul = *matmul;
  }
  return made;
}

// Whether a node can be made one of the other.
bool Graph::Made::is_like(const Made& other) const {
  return kind == other.kind && empty == other.empty && kernel == other.kernel &&
         from_host == other.from_host && to_host == other.to_host;
}

Graph::Graph(std::shared_ptr<const Launcher> launcher, std::span<const Command> commands)
    : launcher_(std::move(launcher)) {
  const Context& context = *launcher_->context();
  const Driver& driver = context.driver();
  context.enter();
  CUgraph graph = nullptr;
  context.check(Driver::call(driver.cuGraphCreate, &graph, 0U), "making a graph");
  graph_ = context.own(graph, driver.cuGraphDestroy);
  std::vector<CUgraphNode> before;   // what a new node depends on
  std::vector<CUgraphNode> current;  // added since the last barrier
  CUgraphNode last_product = nullptr;
  for (const Command& command : commands) {
    if (std::holds_alternative<gpu::BarrierCommand>(command) && !current.empty()) {
      before = std::exchange(current, {});
      // Without one node for all to meet at, n nodes after m others take n·m edges.
      if (before.size() > 2) before = {add_empty(before)};
    }
    CUgraphNode node = nullptr;
    if (!Launcher::is_empty(command)) {
      std::vector<CUgraphNode> after = before;
      const bool product = std::holds_alternative<gpu::LibraryMatmulCommand>(command);
      // Products share a workspace.
      if (product && last_product != nullptr) after.push_back(last_product);
      node = add(command, after);
      if (product) last_product = node;
      current.push_back(node);
    }
    nodes_.push_back(node);
    made_.push_back(made_of(command));
  }
  CUgraphExec exec = nullptr;
  context.check(Driver::call(driver.cuGraphInstantiate, &exec, graph, 0ULL),
                "instantiating a graph of " + std::to_string(made_.size()) + " commands");
  exec_ = context.own(exec, driver.cuGraphExecDestroy);
}

CUgraphNode Graph::add_empty(std::span<const CUgraphNode> after) {
  const Context& context = *launcher_->context();
  CUgraphNode node = nullptr;
  context.check(Driver::call(context.driver().cuGraphAddEmptyNode, &node, graph_.get(),
                             after.data(), after.size()),
                "adding to a graph");
  return node;
}

CUgraphNode Graph::add(const Command& command, std::span<const CUgraphNode> after) {
  const Context& context = *launcher_->context();
  const Driver& driver = context.driver();
  CUgraphNode node = nullptr;
  if (const auto* dispatch = std::get_if<gpu::DispatchCommand>(&command)) {
    ParamBlock block(*dispatch);
    const CUDA_KERNEL_NODE_PARAMS params = node_params(launcher_->launch_of(*dispatch), block);
    context.check(Driver::call(driver.cuGraphAddKernelNode, &node, graph_.get(), after.data(),
                               after.size(), &params),
                  "adding kernel " + std::string(dispatch->kernel->name) + " to a graph");
  } else if (const auto* copy = std::get_if<gpu::CopyCommand>(&command)) {
    const CUDA_MEMCPY3D params = node_params(*copy);
    context.check(Driver::call(driver.cuGraphAddMemcpyNode, &node, graph_.get(), after.data(),
                               after.size(), &params, context.handle()),
                  "adding a copy to a graph");
  } else if (const auto* fill = std::get_if<gpu::FillCommand>(&command)) {
    const CUDA_MEMSET_NODE_PARAMS params = node_params(*fill);
    context.check(Driver::call(driver.cuGraphAddMemsetNode, &node, graph_.get(), after.data(),
                               after.size(), &params, context.handle()),
                  "adding a fill to a graph");
  } else if (const auto* matmul = std::get_if<gpu::LibraryMatmulCommand>(&command)) {
    const Handle<CUgraph> child = capture(*matmul);
    context.check(Driver::call(driver.cuGraphAddChildGraphNode, &node, graph_.get(), after.data(),
                               after.size(), child.get()),
                  "adding a matrix product to a graph");
  }
  return node;
}

// What the library gives to a stream for the product, which only it knows.
Handle<CUgraph> Graph::capture(const gpu::LibraryMatmulCommand& command) const {
  const Context& context = *launcher_->context();
  const Driver& driver = context.driver();
  const Handle<CUstream> stream = context.make_stream();
  context.check(
      Driver::call(driver.cuStreamBeginCapture, stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      "capturing a matrix product");
  CUgraph made = nullptr;
  try {
    launcher_->enqueue(command, stream.get());
  } catch (...) {
    Driver::call(driver.cuStreamEndCapture, stream.get(), &made);
    const Handle<CUgraph> dropped = context.own(made, driver.cuGraphDestroy);
    throw;
  }
  context.check(Driver::call(driver.cuStreamEndCapture, stream.get(), &made),
                "capturing a matrix product");
  return context.own(made, driver.cuGraphDestroy);
}

bool Graph::update(std::span<const Command> commands) {
  std::vector<Made> wanted;
  for (const Command& command : commands) wanted.push_back(made_of(command));
  if (!std::ranges::equal(made_, wanted, &Made::is_like)) return false;
  launcher_->context()->enter();
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (nodes_[i] != nullptr && made_[i] != wanted[i] && !set(nodes_[i], commands[i])) return false;
  }
  made_ = std::move(wanted);
  return true;
}

bool Graph::set(CUgraphNode node, const Command& command) {
  const Context& context = *launcher_->context();
  const Driver& driver = context.driver();
  CUresult result = CUDA_SUCCESS;
  if (const auto* dispatch = std::get_if<gpu::DispatchCommand>(&command)) {
    ParamBlock block(*dispatch);
    const CUDA_KERNEL_NODE_PARAMS params = node_params(launcher_->launch_of(*dispatch), block);
    result = Driver::call(driver.cuGraphExecKernelNodeSetParams, exec_.get(), node, &params);
  } else if (const auto* copy = std::get_if<gpu::CopyCommand>(&command)) {
    const CUDA_MEMCPY3D params = node_params(*copy);
    result = Driver::call(driver.cuGraphExecMemcpyNodeSetParams, exec_.get(), node, &params,
                          context.handle());
  } else if (const auto* fill = std::get_if<gpu::FillCommand>(&command)) {
    const CUDA_MEMSET_NODE_PARAMS params = node_params(*fill);
    result = Driver::call(driver.cuGraphExecMemsetNodeSetParams, exec_.get(), node, &params,
                          context.handle());
  } else if (const auto* matmul = std::get_if<gpu::LibraryMatmulCommand>(&command)) {
    // Another shape may take other kernels, of which the driver makes no child of this node.
    const Handle<CUgraph> child = capture(*matmul);
    return Driver::call(driver.cuGraphExecChildGraphNodeSetParams, exec_.get(), node,
                        child.get()) == CUDA_SUCCESS;
  }
  context.check(result, "updating a graph");
  return true;
}

void Graph::launch(CUstream stream) const {
  const Context& context = *launcher_->context();
  context.check(Driver::call(context.driver().cuGraphLaunch, exec_.get(), stream),
                "starting a graph of " + std::to_string(made_.size()) + " commands");
}

}  // namespace concord::cuda
