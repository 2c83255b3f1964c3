// Memory for packed weights and scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace concord::cpu {

// Bytes that this machine has. More would be granted, and the process ended when it is used.
std::size_t machine_memory();

// Owned memory, 64-byte aligned, uninitialised. From 2 MiB on it asks for huge pages: streaming
// weights through 4 KiB pages costs a tenth of the bandwidth.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t bytes);
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// The calling thread's own scratch, kept between calls and grown when needed, so that steps reuse
// memory that is warm in cache. Its size is bounded by tile sizes, not by the tensors'. A second
// call with another slot does not disturb the first; slots are 0 to 3.
std::byte* thread_scratch(std::size_t bytes, int slot);

// Tells the system that the whole pages within this memory, a private mapping of a file, are not
// needed now; they are read again from the file on the next access.
void release_pages(const void* data, std::size_t bytes);

}  // namespace concord::cpu
