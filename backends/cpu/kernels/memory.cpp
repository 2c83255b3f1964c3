#include "backends/cpu/kernels/memory.h"

#include <array>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace concord::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

}  // namespace

std::size_t machine_memory() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const bool huge = bytes >= kHugePage;
  const std::size_t alignment = huge ? kHugePage : kCacheLine;
  void* memory = nullptr;
  if (bytes > machine_memory() ||
      posix_memalign(&memory, alignment, (bytes + kCacheLine - 1) / kCacheLine * kCacheLine) != 0) {
    size_ = 0;
    throw std::bad_alloc();
  }
  // Only whole huge pages: the rest of a page beyond the end would be resident for nothing.
  if (huge) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
}

AlignedBuffer::~AlignedBuffer() {
  std::free(data_);
}

std::byte* thread_scratch(std::size_t bytes, int slot) {
  thread_local std::array<AlignedBuffer, 4> buffers;
  AlignedBuffer& buffer = buffers[static_cast<std::size_t>(slot)];
  if (buffer.size() < bytes) {
    buffer = AlignedBuffer();
    buffer = AlignedBuffer(bytes);
  }
  return buffer.data();
}

void release_pages(const void* data, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace concord::cpu
