#include <algorithm>
#include <cstring>
#include <exception>
#include <set>

#include "tests/fake_cuda/state.h"

namespace fake_cuda {
namespace {

struct Runner {
  CUresult operator()(const EmptyOp&) const { return CUDA_SUCCESS; }
  CUresult operator()(const LaunchOp& op) const {
    Vulkan::get().dispatch(op.function->name, *op.function->twin, op.grid, op.params);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const CopyOp& op) const {
    Vulkan::get().finish();
    std::memmove(op.to.host(), op.from.host(), op.bytes);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const FillOp& op) const {
    Vulkan::get().finish();
    for (std::size_t i = 0; i < op.words; ++i) {
      std::memcpy(op.to.host() + 4 * i, &op.value, sizeof op.value);
    }
    return CUDA_SUCCESS;
  }
  CUresult operator()(const HostOp& op) const {
    Vulkan::get().finish();
    op.function(op.data);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const RecordOp& op) const {
    if (op.event->timed) Vulkan::get().finish();
    op.event->done = op.ticket;
    op.event->when = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  }
};

// Marks what the work uses, and complains about what isn't ordered after its last use elsewhere.
CUresult use(Stream& stream, const Op& op, const std::string& what) {
  State& state = State::get();
  merge(stream.clock, state.host);
  const std::uint64_t step = ++stream.clock[stream.id];
  for (Allocation* allocation : op.uses) {
    if (allocation->freed) {
      return state.break_with(CUDA_ERROR_ILLEGAL_ADDRESS, what + " uses freed memory");
    }
    if (allocation->stream != 0 && stream.clock[allocation->stream] < allocation->step) {
      return state.refuse(CUDA_ERROR_INVALID_VALUE,
                          what +
                              " uses memory that another stream may still use: a "
                              "synchronisation is missing");
    }
    allocation->stream = stream.id;
    allocation->step = step;
  }
  return CUDA_SUCCESS;
}

// Parameters one after the other, where the PTX wants them.
CUresult gather_params(const Function& function, void** params, void** extra,
                       std::vector<std::byte>& block) {
  State& state = State::get();
  const std::uint32_t wanted = function.entry.bytes();
  block.resize(wanted);
  if (params != nullptr && extra == nullptr) {
    for (std::size_t i = 0; i < function.entry.params.size(); ++i) {
      const PtxParam& param = function.entry.params[i];
      std::memcpy(block.data() + param.offset, params[i], param.bytes);
    }
    return CUDA_SUCCESS;
  }
  const void* from = nullptr;
  std::size_t bytes = 0;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) from = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  if (from == nullptr || bytes != wanted) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE,
                        "kernel " + function.name + " takes " + std::to_string(wanted) +
                            " bytes of parameters, " + std::to_string(bytes) + " were given");
  }
  std::memcpy(block.data(), from, bytes);
  return CUDA_SUCCESS;
}

// An order that the edges allow, as far from that of adding as can be: of all nodes that may run
// next, the one added last.
std::vector<std::size_t> late_order(const GraphState& graph) {
  std::vector<std::size_t> missing;
  std::vector<std::vector<std::size_t>> next(graph.nodes.size());
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::vector<std::size_t>& after = graph.nodes[i]->after;
    missing.push_back(after.size());
    for (const std::size_t before : after) next[before].push_back(i);
    if (after.empty()) ready.insert(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t node = *ready.rbegin();
    ready.erase(node);
    order.push_back(node);
    for (const std::size_t follower : next[node]) {
      if (--missing[follower] == 0) ready.insert(follower);
    }
  }
  return order;
}

}  // namespace

void merge(Clock& into, const Clock& from) {
  for (const auto& [stream, step] : from) into[stream] = std::max(into[stream], step);
}

CUresult enqueue(Stream& stream, Op op, const std::string& what) {
  if (stream.capture != nullptr) {
    auto node = std::make_unique<Node>();
    node->op = std::move(op);
    if (!stream.capture->nodes.empty()) node->after = {stream.capture->nodes.size() - 1};
    stream.capture->nodes.push_back(std::move(node));
    return CUDA_SUCCESS;
  }
  if (const CUresult result = use(stream, op, what); result != CUDA_SUCCESS) return result;
  // Until somebody has waited for it, what a copy writes to the host is anything, unless work
  // before it still needs what is there.
  if (const auto* copy = std::get_if<CopyOp>(&op.what); copy != nullptr) {
    Allocation* const to = copy->to.allocation;
    const bool needed = std::ranges::any_of(stream.queue, [&](const Op& earlier) {
      return std::ranges::find(earlier.uses, to) != earlier.uses.end();
    });
    if (to->pinned && !needed) std::fill_n(copy->to.host(), copy->bytes, std::byte{0xee});
  }
  stream.queue.push_back(std::move(op));
  return CUDA_SUCCESS;
}

CUresult drain(Stream& stream, const Event* until) {
  State& state = State::get();
  try {
    while (!stream.queue.empty() && (until == nullptr || until->done < until->recorded)) {
      const Op op = std::move(stream.queue.front());
      stream.queue.pop_front();
      if (const CUresult result = std::visit(Runner{}, op.what); result != CUDA_SUCCESS) {
        return result;
      }
    }
    Vulkan::get().finish();
  } catch (const std::exception& error) {
    return state.break_with(CUDA_ERROR_LAUNCH_FAILED, error.what());
  }
  merge(state.host, until == nullptr ? stream.clock : until->clock);
  return CUDA_SUCCESS;
}

void run_all() {
  const Clock known = State::get().host;
  for (const auto& [handle, stream] : State::get().streams) drain(*stream);
  State::get().host = known;
}

CUresult enqueue_graph(Stream& stream, const GraphState& graph) {
  for (const std::size_t i : late_order(graph)) {
    const Node& node = *graph.nodes[i];
    const CUresult result = node.child != nullptr ? enqueue_graph(stream, *node.child)
                                                  : enqueue(stream, node.op, "a graph's node");
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult make_launch(CUfunction handle, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                     void** params, void** extra, Op& op) {
  State& state = State::get();
  const auto* function = reinterpret_cast<const Function*>(handle);
  const bool known = std::ranges::any_of(state.modules, [&](const auto& module) {
    return std::ranges::any_of(module.second->functions,
                               [&](const auto& one) { return &one.second == function; });
  });
  if (!known) return state.refuse(CUDA_ERROR_INVALID_HANDLE, "launch of an unknown function");
  const std::string kernel = "kernel " + function->name;
  for (std::size_t i = 0; i < 3; ++i) {
    if (block[i] != function->twin->workgroup[i]) {
      return state.refuse(CUDA_ERROR_INVALID_VALUE,
                          kernel + " was written for blocks of " +
                              std::to_string(function->twin->workgroup[i]) + " along axis " +
                              std::to_string(i) + ", not " + std::to_string(block[i]));
    }
    const unsigned limit = i == 0 ? 0x7fffffffU : 65535U;
    if (grid[i] == 0 || grid[i] > limit) {
      return state.refuse(CUDA_ERROR_INVALID_VALUE, kernel + ": a grid of " +
                                                        std::to_string(grid[i]) +
                                                        " blocks along axis " + std::to_string(i));
    }
  }
  LaunchOp launch{function, {grid[0], grid[1], grid[2]}, {}};
  if (const CUresult result = gather_params(*function, params, extra, launch.params);
      result != CUDA_SUCCESS) {
    return result;
  }
  for (std::size_t i = 0; i < function->entry.params.size(); ++i) {
    if (!function->twin->is_pointer[i]) continue;
    std::uint64_t address = 0;
    std::memcpy(&address, launch.params.data() + function->entry.params[i].offset, sizeof address);
    if (address == 0) continue;
    Allocation* allocation = nullptr;
    const CUresult result =
        check_pointer(address, kernel + ": parameter " + std::to_string(i), allocation);
    if (result != CUDA_SUCCESS) return result;
    op.uses.push_back(allocation);
  }
  op.what = std::move(launch);
  return CUDA_SUCCESS;
}

}  // namespace fake_cuda
