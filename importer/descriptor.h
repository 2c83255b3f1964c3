#pragma once

namespace concord::importer {

// A file descriptor that is closed with its owner; −1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return number_; }
  void reset();

 private:
  int release();

  int number_ = -1;
};

}  // namespace concord::importer
