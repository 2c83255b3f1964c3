#pragma once

// What a GPU driver must do for the backends built on it. The rest (lowering of operators, memory
// planning, hazards) is shared and speaks to this interface only.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backends/gpu/kernel.h"

namespace concord::gpu {

enum class DeviceType : std::uint8_t {
  kDiscrete,
  kIntegrated,
  kVirtual,
  kCpu,
  kImitated,  // a driver for tests, whose speed means nothing
  kOther,
};

struct DeviceProperties {
  std::string name;
  std::string driver;  // the driver's own name and version
  std::string driver_info;
  DeviceType type = DeviceType::kOther;
  bool is_cpu_driver = false;      // every memory access costs there, shared memory too
  std::uint64_t memory_bytes = 0;  // device-local
  int units = 0;                   // multiprocessors or compute units; 0: not known
  std::uint32_t subgroup_size = 1;
  std::uint32_t shared_bytes = 0;  // per workgroup
  std::uint32_t max_param_bytes = 128;
  std::array<std::uint32_t, 3> max_groups{65535, 65535, 65535};
  std::uint64_t max_allocation_bytes = 0;
  KernelNeeds abilities;  // what kernels may need here
  bool unified = false;   // the host sees device memory (MemoryKind::kDevice)
  bool timestamps = false;
  bool runs_ptx = false;  // kernels' PTX rather than their SPIR-V
  bool library_matmul = false;
  bool short_products = false;  // products of f32 from operands of tf32 or bf16
};

// Why `kernel` cannot run on such a device; empty when it can.
std::string missing_for(const Kernel& kernel, const DeviceProperties& properties);

enum class MemoryKind : std::uint8_t {
  kDevice,    // where kernels are fast
  kUpload,    // written by the host, read by copies or kernels
  kDownload,  // written by copies or kernels, read by the host
};

// Device memory, freed with this object. Its device must live longer.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual DevicePtr address() const = 0;
  virtual std::size_t size() const = 0;  // bytes
  // The same memory seen by the host, coherent; null where the host cannot see it.
  virtual std::byte* host() const = 0;
};

struct MemoryRange {
  const Memory* memory = nullptr;
  std::size_t offset = 0;  // bytes
  std::size_t bytes = 0;
};

struct DispatchCommand {
  const Kernel* kernel = nullptr;
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::vector<std::byte> params;  // the kernel's parameter block, device addresses filled in
};

struct CopyCommand {
  MemoryRange from;
  MemoryRange to;  // as many bytes; the ranges don't overlap
};

struct FillCommand {
  MemoryRange to;           // offset and bytes are multiples of 4
  std::uint32_t value = 0;  // repeated
};

enum class Epilogue : std::uint8_t { kNone, kRelu, kGeluTanh };

// What elements of products are rounded to first; sums are f32 always.
enum class Operands : std::uint8_t { kAsStored, kTf32, kBf16 };

// y = act(alpha · a b + bias + residual), row-major, by the vendor's library where
// properties().library_matmul. Strides in elements.
struct LibraryMatmulCommand {
  DevicePtr a, b, y;     // [batch, m, k], [batch, k, n], [batch, m, n]
  DevicePtr bias{};      // [n], or none
  DevicePtr residual{};  // lies as y does, or none
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t a_batch_stride = 0, b_batch_stride = 0, y_batch_stride = 0;
  std::int64_t a_row = 0, b_row = 0, y_row = 0;  // between rows as they are stored
  bool transpose_a = false;                      // a is stored [batch, k, m]
  bool transpose_b = false;                      // b is stored [batch, n, k]
  float alpha = 1.0F;
  Epilogue epilogue = Epilogue::kNone;
  // 4: f32; 2: f16, sums in f32; 1: signed bytes, sums and y in i32 (b transposed, k and all rows
  // multiples of 4, neither alpha nor anything added).
  std::uint32_t element_bytes = 4;
  bool wide_result = false;  // y in f32 all the same; only of f16, and with nothing added
  Operands operands = Operands::kAsStored;  // others only with f32 and properties().short_products
  friend bool operator==(const LibraryMatmulCommand&, const LibraryMatmulCommand&) = default;
};

// All writes before it are visible to everything after it, and all reads before it are done.
struct BarrierCommand {};

using Command =
    std::variant<DispatchCommand, CopyCommand, FillCommand, LibraryMatmulCommand, BarrierCommand>;

// Commands recorded once. Runs as often as wanted, one run at a time; the memory that it names must
// live as long. Writes of one run are visible to the next and to the host.
class CommandList {
 public:
  virtual ~CommandList() = default;
  virtual void submit() = 0;
  virtual void wait() = 0;  // for the last submit
  // Nanoseconds of each command of the last run, in the order of recording, when recorded with
  // timestamps; barriers count as 0.
  virtual std::vector<double> times() const = 0;
};

// Methods are safe to call from many threads. Failures throw with the driver's own text.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProperties& properties() const = 0;
  virtual std::unique_ptr<Memory> allocate(std::size_t bytes, MemoryKind kind) = 0;
  // Blocking copies between host memory and `range`, which nothing else uses meanwhile.
  virtual void upload(const MemoryRange& range, std::span<const std::byte> bytes) = 0;
  virtual void download(const MemoryRange& range, std::span<std::byte> bytes) = 0;
  // Compiles `kernel` unless that has been done.
  virtual void prepare(const Kernel& kernel) = 0;
  virtual std::unique_ptr<CommandList> record(std::span<const Command> commands,
                                              bool timestamps) = 0;
  // Likewise, for commands that may differ from those of `old` in parameters only: where a driver
  // can, it updates `old`, which no run uses, rather than recording anew.
  virtual std::unique_ptr<CommandList> record_again(std::unique_ptr<CommandList> old,
                                                    std::span<const Command> commands,
                                                    bool timestamps);
  // Calls of the driver that the calling thread has made; 0 where they aren't counted.
  virtual std::uint64_t driver_calls() const { return 0; }
};

// The parameter block of a typed kernel as bytes.
template <class Params>
std::vector<std::byte> param_bytes(const Kernel& kernel, const Params& params) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(&params, 1));
  return {bytes.begin(), bytes.begin() + kernel.param_bytes};
}

template <class Params>
DispatchCommand dispatch(const TypedKernel<Params>& kernel, std::array<std::uint32_t, 3> groups,
                         const Params& params) {
  return {&kernel.kernel, groups, param_bytes(kernel.kernel, params)};
}

}  // namespace concord::gpu
