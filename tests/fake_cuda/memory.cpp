#include <algorithm>
#include <exception>

#include "tests/fake_cuda/state.h"

namespace fake_cuda {
namespace {

// Freed memory is kept for a while, so that its addresses aren't given to somebody else.
constexpr std::size_t kKeptFreed = 256;

std::string hex(std::uint64_t address) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (; address != 0; address >>= 4) text.insert(text.begin(), digits[address & 15]);
  return "0x" + (text.empty() ? "0" : text);
}

void drop_freed(State& state) {
  std::size_t freed = 0;
  for (const auto& [address, allocation] : state.memory) freed += allocation->freed ? 1 : 0;
  if (freed <= kKeptFreed) return;
  run_all();
  for (auto it = state.memory.begin(); freed > kKeptFreed / 2 && it != state.memory.end();) {
    if (!it->second->freed) {
      ++it;
      continue;
    }
    Vulkan::get().free(it->second->buffer);
    state.buried.push_back(std::move(it->second));
    it = state.memory.erase(it);
    --freed;
  }
}

CUresult range_in(Allocation& allocation, std::uint64_t offset, std::size_t bytes,
                  const std::string& what, Range& range) {
  State& state = State::get();
  if (allocation.freed) return state.refuse(CUDA_ERROR_INVALID_VALUE, what + " is freed memory");
  if (offset + bytes > allocation.bytes) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE,
                        what + " ends " + std::to_string(offset + bytes - allocation.bytes) +
                            " bytes behind an allocation of " + std::to_string(allocation.bytes));
  }
  range = {&allocation, offset};
  return CUDA_SUCCESS;
}

Allocation* allocation_at(std::uint64_t address) {
  State& state = State::get();
  auto it = state.memory.upper_bound(address);
  if (it == state.memory.begin()) return nullptr;
  --it;
  return address - it->first < std::max<std::size_t>(it->second->bytes, 1) ? it->second.get()
                                                                           : nullptr;
}

}  // namespace

CUresult make_allocation(std::size_t bytes, bool pinned, Allocation*& made) {
  State& state = State::get();
  if (bytes == 0) return state.refuse(CUDA_ERROR_INVALID_VALUE, "an allocation of no bytes");
  if (!pinned && state.in_use + bytes > state.setup.memory) {
    return state.refuse(CUDA_ERROR_OUT_OF_MEMORY, "device memory is used up");
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->bytes = bytes;
  allocation->pinned = pinned;
  try {
    allocation->buffer = Vulkan::get().allocate((bytes + 255) / 256 * 256);
  } catch (const std::exception& error) {
    return state.refuse(CUDA_ERROR_OUT_OF_MEMORY, error.what());
  }
  // What nobody wrote must not look like a result.
  std::fill_n(allocation->buffer.host, bytes, std::byte{0xff});
  state.in_use += bytes;
  made = allocation.get();
  const std::uint64_t address = allocation->buffer.address;
  state.memory[address] = std::move(allocation);
  return CUDA_SUCCESS;
}

void free_allocation(Allocation& allocation) {
  State& state = State::get();
  allocation.freed = true;
  state.in_use -= allocation.bytes;
  drop_freed(state);
}

CUresult find_range(std::uint64_t address, std::size_t bytes, const std::string& what,
                    Range& range) {
  Allocation* allocation = allocation_at(address);
  if (allocation == nullptr) {
    return State::get().refuse(CUDA_ERROR_INVALID_VALUE,
                               what + " (" + hex(address) + ") is no device memory");
  }
  return range_in(*allocation, address - allocation->buffer.address, bytes, what, range);
}

CUresult find_pinned(const void* host, std::size_t bytes, const std::string& what, Range& range) {
  State& state = State::get();
  const auto* at = static_cast<const std::byte*>(host);
  for (const auto& [address, allocation] : state.memory) {
    const std::byte* begin = allocation->buffer.host;
    if (!allocation->pinned || at < begin || at >= begin + allocation->bytes) continue;
    return range_in(*allocation, static_cast<std::uint64_t>(at - begin), bytes, what, range);
  }
  return state.refuse(CUDA_ERROR_INVALID_VALUE, what + " is no pinned memory");
}

CUresult check_pointer(std::uint64_t address, const std::string& what, Allocation*& allocation) {
  State& state = State::get();
  allocation = allocation_at(address);
  if (allocation != nullptr && !allocation->freed) return CUDA_SUCCESS;
  return state.break_with(CUDA_ERROR_ILLEGAL_ADDRESS,
                          what + " (" + hex(address) + ") " +
                              (allocation == nullptr ? "leads nowhere" : "is freed memory"));
}

CUresult check_host_use(const Allocation& allocation, const std::string& what) {
  State& state = State::get();
  if (allocation.stream == 0 || state.host[allocation.stream] >= allocation.step) {
    return CUDA_SUCCESS;
  }
  return state.refuse(CUDA_ERROR_INVALID_VALUE,
                      what + " while a stream may still use it: a synchronisation is missing");
}

}  // namespace fake_cuda
