#pragma once

// What the software driver knows: devices, memory, streams, events, graphs, and which of them are
// ordered after which.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <cuda.h>

#include "tests/fake_cuda/code.h"
#include "tests/fake_cuda/vulkan.h"

namespace fake_cuda {

// How far each stream (by id) is known to have got.
using Clock = std::map<int, std::uint64_t>;
void merge(Clock& into, const Clock& from);

struct Allocation {
  Buffer buffer;
  std::size_t bytes = 0;
  bool pinned = false;
  bool freed = false;
  int stream = 0;          // that used it last, 0 for none
  std::uint64_t step = 0;  // of that stream
};

// A range of an allocation.
struct Range {
  Allocation* allocation = nullptr;
  std::size_t offset = 0;
  std::byte* host() const { return allocation->buffer.host + offset; }
};

struct Function {
  std::string name;
  PtxEntry entry;
  const Twin* twin = nullptr;
};

struct Module {
  std::map<std::string, Function> functions;
};

struct LaunchOp {
  const Function* function = nullptr;
  std::array<std::uint32_t, 3> grid{};
  std::vector<std::byte> params;  // as the twin takes them
};
struct CopyOp {
  Range from, to;
  std::size_t bytes = 0;
};
struct FillOp {
  Range to;
  std::size_t words = 0;
  std::uint32_t value = 0;
};
struct HostOp {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
struct EmptyOp {};
struct Event;
struct RecordOp {
  Event* event = nullptr;
  std::uint64_t ticket = 0;
};
struct Op {
  std::variant<EmptyOp, LaunchOp, CopyOp, FillOp, HostOp, RecordOp> what;
  std::vector<Allocation*> uses;
};

struct Node {
  Op op;
  std::vector<std::size_t> after;  // indices
  std::shared_ptr<struct GraphState> child;
};

struct GraphState {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Stream {
  int id = 0;
  Clock clock;
  std::deque<Op> queue;
  std::shared_ptr<GraphState> capture;  // what it captures into
};

struct Event {
  bool timed = true;
  Clock clock;
  Stream* stream = nullptr;    // that it was recorded on last
  std::uint64_t recorded = 0;  // tickets: of the last record,
  std::uint64_t done = 0;      // and of the last that was reached
  std::chrono::steady_clock::time_point when;
};

struct Setup {
  int devices = 1;
  int capability = 75;
  int version = 12000;
  std::uint64_t memory = std::uint64_t{8} << 30;
  bool verbose = false;
  std::string fail;
};

struct State {
  static State& get();

  std::recursive_mutex mutex;
  Setup setup;
  bool started = false;
  CUresult broken = CUDA_SUCCESS;  // what every call returns from now on
  std::string complaint;
  std::map<std::string, int> calls;  // of CUDA's functions
  std::map<std::string, int> steps;  // what was done in Vulkan for them
  // By function, or step, and number of the call.
  std::map<std::string, std::map<int, int>> faults;
  std::map<int, int> contexts;  // device → how often it was retained
  std::map<std::uint64_t, std::unique_ptr<Allocation>> memory;  // by device address
  std::vector<std::unique_ptr<Allocation>> buried;  // whose addresses may be given out again
  std::map<const void*, std::unique_ptr<Stream>> streams;
  std::map<const void*, std::unique_ptr<Event>> events;
  std::map<const void*, std::shared_ptr<GraphState>> graphs;
  std::map<const void*, std::shared_ptr<GraphState>> execs;
  std::map<const void*, std::unique_ptr<Module>> modules;
  std::map<const void*, int> pools;
  Clock host;
  int next_stream = 1;
  std::uint64_t in_use = 0;  // bytes

  // What the nth call of a function, or of the next step of this name in Vulkan, was told to return
  // instead of doing anything.
  std::optional<int> take_fault(const std::string& name, int nth);
  std::optional<int> take_step_fault(const std::string& name);
  // Says what is wrong and returns `result`.
  CUresult refuse(CUresult result, const std::string& what);
  // As refuse; every later call fails likewise.
  CUresult break_with(CUresult result, const std::string& what);
};

// --- memory.cpp
// -----------------------------------------------------------------------------------

CUresult make_allocation(std::size_t bytes, bool pinned, Allocation*& made);
void free_allocation(Allocation& allocation);  // one that is alive
// The range behind an address of the device, or of pinned memory on the host; fails with a reason
// when it isn't wholly inside an allocation that is alive. `what`: "a copy's source".
CUresult find_range(std::uint64_t address, std::size_t bytes, const std::string& what,
                    Range& range);
CUresult find_pinned(const void* host, std::size_t bytes, const std::string& what, Range& range);
// Whether an address leads to memory that is alive.
CUresult check_pointer(std::uint64_t address, const std::string& what, Allocation*& allocation);
// Whether the host, or a stream, may touch the allocation now.
CUresult check_host_use(const Allocation& allocation, const std::string& what);

// --- work.cpp
// -------------------------------------------------------------------------------------

// Puts work into the stream's queue, or into the graph that it captures.
CUresult enqueue(Stream& stream, Op op, const std::string& what);
// Carries out the queue up to its end, or until `until` has reached its ticket.
CUresult drain(Stream& stream, const Event* until = nullptr);
// Carries out what all streams were given, without anybody having waited for it.
void run_all();
// Launches the graph: its nodes, in an order that its edges allow.
CUresult enqueue_graph(Stream& stream, const GraphState& graph);
// A launch from what the caller gave: a block of parameters in `extra`, or one by one.
CUresult make_launch(CUfunction function, std::array<unsigned, 3> grid,
                     std::array<unsigned, 3> block, void** params, void** extra, Op& op);

}  // namespace fake_cuda
