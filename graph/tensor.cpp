#include "graph/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <unistd.h>

#include "graph/complex.h"
#include "graph/error.h"

namespace concord {
namespace {

class HeapStorage final : public Storage {
 public:
  explicit HeapStorage(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
    if (!data_) {
      throw Error(ErrorKind::failed, "out of memory: cannot allocate " + std::to_string(bytes) +
                                         " bytes for a tensor");
    }
  }
  std::byte* data() override { return data_.get(); }
  std::size_t size() const override { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_;
};

class StringStorage final : public Storage {
 public:
  explicit StringStorage(std::size_t count) : strings(count) {}
  std::byte* data() override { return nullptr; }
  std::size_t size() const override { return strings.size(); }
  std::vector<std::string> strings;
};

class ItemStorage final : public Storage {
 public:
  explicit ItemStorage(std::vector<Tensor> of) : items(std::move(of)) {}
  std::byte* data() override { return nullptr; }
  std::size_t size() const override { return items.size(); }
  std::vector<Tensor> items;
};

// Whether the elements are no bytes but objects, counted one by one.
bool holds_objects(DataType dtype) {
  return dtype == DataType::string || is_container(dtype);
}

std::uint64_t raw_bits(const Tensor& tensor, std::int64_t index) {
  if (is_complex(tensor.dtype())) {
    throw Error(ErrorKind::failed, "internal: a complex element read as one number");
  }
  const int width = bits(tensor.dtype());
  const std::byte* p = tensor.in_place();
  if (width < 8) {
    const std::int64_t bit = index * width;
    const auto byte = std::to_integer<unsigned>(p[bit / 8]);
    return (byte >> (bit % 8)) & ((1u << width) - 1u);
  }
  std::uint64_t raw = 0;
  std::memcpy(&raw, p + index * (width / 8), static_cast<std::size_t>(width / 8));
  return raw;
}

// Bytes. What does not fit is refused: the system would grant it, and end the process later.
double machine_memory() {
  static const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  // An empty tensor's other extents must fit as well: strides are products of them.
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && __builtin_mul_overflow(count, extent, &count))) {
      throw Error(ErrorKind::invalid,
                  "shape " + to_string(shape) + " has a negative extent or too many elements",
                  "use smaller sizes");
    }
    is_empty = is_empty || extent == 0;
  }
  if (count > (std::int64_t{1} << 56)) {  // the bytes of any type fit then
    throw Error(ErrorKind::invalid, "shape " + to_string(shape) + " has too many elements",
                "use smaller sizes");
  }
  return is_empty ? 0 : count;
}

std::string to_string(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

Shape contiguous_strides(std::span<const std::int64_t> shape) {
  Shape strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

std::shared_ptr<Storage> allocate_storage(std::size_t bytes) {
  return std::make_shared<HeapStorage>(bytes);
}

Tensor::Tensor(DataType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), count_(element_count(shape_)) {
  constexpr double object_bytes = sizeof(std::string);
  const double needed = holds_objects(dtype) ? static_cast<double>(count_) * object_bytes
                                             : static_cast<double>(bytes());
  if (needed > machine_memory()) {
    throw Error(ErrorKind::failed,
                "a tensor of " + std::string(concord::to_string(dtype)) + " " +
                    concord::to_string(shape_) + " does not fit the memory of this machine",
                "use smaller sizes");
  }
  if (dtype == DataType::string) {
    storage_ = std::make_shared<StringStorage>(static_cast<std::size_t>(count_));
  } else if (is_container(dtype)) {
    storage_ = std::make_shared<ItemStorage>(std::vector<Tensor>(static_cast<std::size_t>(count_)));
  } else {
    storage_ = allocate_storage(static_cast<std::size_t>(bytes()));
  }
}

Tensor::Tensor(DataType dtype, Shape shape, std::shared_ptr<Storage> storage,
               std::size_t byte_offset)
    : dtype_(dtype),
      shape_(std::move(shape)),
      count_(element_count(shape_)),
      storage_(std::move(storage)),
      offset_(byte_offset) {
  const auto needed = static_cast<std::size_t>(holds_objects(dtype) ? count_ : bytes());
  if (byte_offset > storage_->size() || needed > storage_->size() - byte_offset) {
    throw Error(ErrorKind::invalid, "tensor " + concord::to_string(shape_) + " of " +
                                        std::string(concord::to_string(dtype)) +
                                        " does not fit its memory");
  }
}

Tensor Tensor::from_ints(std::span<const std::int64_t> values) {
  return of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor Tensor::zeros(DataType dtype, Shape shape) {
  Tensor result(dtype, std::move(shape));
  if (!holds_objects(dtype) && result.bytes() > 0) {
    std::memset(result.mutable_data(), 0, static_cast<std::size_t>(result.bytes()));
  }
  return result;
}

const std::byte* Tensor::data() const {
  return storage_ && storage_->data() ? storage_->data() + offset_ : nullptr;
}

const std::byte* Tensor::in_place() const {
  const std::byte* start = storage_ ? storage_->in_place() : nullptr;
  return start ? start + offset_ : nullptr;
}

std::byte* Tensor::mutable_data() {
  if (storage_ && !storage_->writable()) {
    throw Error(ErrorKind::failed, "internal: write to a read-only tensor");
  }
  return storage_ && storage_->data() ? storage_->data() + offset_ : nullptr;
}

void Tensor::check_type(DataType wanted) const {
  const bool same = wanted == dtype_;
  const bool bytes16 = wanted == DataType::u16 && bits(dtype_) == 16 && is_float(dtype_);
  const bool bytes8 = wanted == DataType::u8 && (bits(dtype_) == 8 || is_sub_byte(dtype_));
  if (!same && !bytes16 && !bytes8) {
    throw Error(ErrorKind::failed, "internal: tensor of " +
                                       std::string(concord::to_string(dtype_)) + " read as " +
                                       std::string(concord::to_string(wanted)));
  }
}

std::span<const std::string> Tensor::strings() const {
  const auto* storage = dynamic_cast<const StringStorage*>(storage_.get());
  if (storage == nullptr) throw Error(ErrorKind::failed, "internal: tensor holds no strings");
  return {storage->strings.data() + offset_, static_cast<std::size_t>(count_)};
}

std::span<std::string> Tensor::mutable_strings() {
  auto* storage = dynamic_cast<StringStorage*>(storage_.get());
  if (storage == nullptr) throw Error(ErrorKind::failed, "internal: tensor holds no strings");
  return {storage->strings.data() + offset_, static_cast<std::size_t>(count_)};
}

std::span<const Tensor> Tensor::items() const {
  const auto* storage = dynamic_cast<const ItemStorage*>(storage_.get());
  if (storage == nullptr) throw Error(ErrorKind::failed, "internal: tensor holds no items");
  return {storage->items.data() + offset_, static_cast<std::size_t>(count_)};
}

std::span<Tensor> Tensor::mutable_items() {
  auto* storage = dynamic_cast<ItemStorage*>(storage_.get());
  if (storage == nullptr) throw Error(ErrorKind::failed, "internal: tensor holds no items");
  return {storage->items.data() + offset_, static_cast<std::size_t>(count_)};
}

Tensor Tensor::container(DataType dtype, std::vector<Tensor> items) {
  const auto count = static_cast<std::int64_t>(items.size());
  return {dtype, {count}, std::make_shared<ItemStorage>(std::move(items)), 0};
}

double Tensor::at_double(std::int64_t index) const {
  if (is_float(dtype_)) return float_from_bits(dtype_, raw_bits(*this, index));
  if (dtype_ == DataType::u64) return static_cast<double>(raw_bits(*this, index));
  return static_cast<double>(at_int(index));
}

std::int64_t Tensor::at_int(std::int64_t index) const {
  if (is_float(dtype_)) return static_cast<std::int64_t>(at_double(index));
  const std::uint64_t raw = raw_bits(*this, index);
  const int width = bits(dtype_);
  if (is_signed_integer(dtype_) && width < 64) {
    const int shift = 64 - width;
    return static_cast<std::int64_t>(raw << shift) >> shift;
  }
  return static_cast<std::int64_t>(raw);
}

std::vector<std::int64_t> Tensor::ints() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count_));
  for (std::int64_t i = 0; i < count_; ++i) values[static_cast<std::size_t>(i)] = at_int(i);
  return values;
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor result = *this;
  if (element_count(shape) != count_) {
    throw Error(ErrorKind::invalid, "cannot view a tensor of shape " + concord::to_string(shape_) +
                                        " as " + concord::to_string(shape));
  }
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::clone() const {
  Tensor result(dtype_, shape_);
  if (dtype_ == DataType::string) {
    std::span<const std::string> from = strings();
    std::span<std::string> to = result.mutable_strings();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  } else if (is_container(dtype_)) {
    for (std::size_t i = 0; i < items().size(); ++i) {
      result.mutable_items()[i] = items()[i].clone();
    }
  } else if (bytes() > 0) {
    std::memcpy(result.mutable_data(), in_place(), static_cast<std::size_t>(bytes()));
  }
  return result;
}

void Tensor::release_pages() const {
  if (storage_) storage_->release(offset_, static_cast<std::size_t>(bytes()));
}

bool identical(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DataType::string) {
    for (std::size_t i = 0; i < a.strings().size(); ++i) {
      if (a.strings()[i] != b.strings()[i]) return false;
    }
    return true;
  }
  if (is_container(a.dtype())) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), identical);
  }
  return a.bytes() == 0 ||
         std::memcmp(a.in_place(), b.in_place(), static_cast<std::size_t>(a.bytes())) == 0;
}

}  // namespace concord
