#include "graph/tensor.h"

#include <complex>
#include <cstring>

#include <gtest/gtest.h>

#include "graph/complex.h"
#include "graph/error.h"

namespace concord {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 32;

TEST(Shapes, CountDoesNotDependOnTheOrderOfAxes) {
  EXPECT_EQ(element_count(Shape{}), 1);
  EXPECT_EQ(element_count(Shape{2, 0, 3}), 0);
  EXPECT_EQ(element_count(Shape{0, kHuge}), 0);
  for (const Shape& shape : {Shape{kHuge, kHuge, 0}, Shape{0, kHuge, kHuge}, Shape{kHuge, 0, kHuge},
                             Shape{kHuge, kHuge}, Shape{-1, 0}, Shape{0, -1}}) {
    EXPECT_THROW(element_count(shape), Error) << to_string(shape);
    EXPECT_THROW(Tensor(DataType::f32, shape), Error) << to_string(shape);
  }
}

TEST(ComplexTensor, IsReadByItsParts) {
  for (const DataType dtype : {DataType::c64, DataType::c128}) {
    Tensor tensor = Tensor::zeros(dtype, {3});
    const std::complex<float> narrow[] = {{1, -2}, {3, 0.5F}, {-4, 5}};
    const std::complex<double> wide[] = {{1, -2}, {3, 0.5}, {-4, 5}};
    ASSERT_EQ(static_cast<std::size_t>(tensor.bytes()),
              dtype == DataType::c64 ? sizeof narrow : sizeof wide);
    std::memcpy(
        tensor.mutable_data(),
        dtype == DataType::c64 ? static_cast<const void*>(narrow) : static_cast<const void*>(wide),
        static_cast<std::size_t>(tensor.bytes()));
    const Tensor parts = parts_of(tensor);
    EXPECT_EQ(parts.shape(), (Shape{3, 2}));
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < parts.count(); ++i) numbers.push_back(parts.at_double(i));
    EXPECT_EQ(numbers, (std::vector<double>{1, -2, 3, 0.5, -4, 5}));
    // It is not one number.
    EXPECT_THROW(tensor.at_double(2), Error);
    EXPECT_THROW(tensor.at_int(2), Error);
  }
  // A view into the middle of its memory.
  Tensor all = Tensor::zeros(DataType::f64, {6});
  all.as_mutable<double>()[4] = 7;
  const Tensor last(DataType::c128, {1}, all.storage(), 32);
  EXPECT_EQ(parts_of(last).at_double(0), 7);
}

}  // namespace
}  // namespace concord
