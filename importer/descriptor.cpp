#include "importer/descriptor.h"

#include <utility>

#include <unistd.h>

namespace concord::importer {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

void Descriptor::reset() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

}  // namespace concord::importer
