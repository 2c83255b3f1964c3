// What cuBLASLt is asked for, and that a device without it says so.

#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "tests/cuda/cuda_fixture.h"

namespace concord::cuda {
namespace {

using gpu::Epilogue;
using gpu::LibraryMatmulCommand;
using gpu::MemoryKind;
using testing::HasSubstr;

class CudaBlas : public testing::Test {
 protected:
  std::unique_ptr<gpu::Memory> uploaded(const std::vector<float>& values) {
    auto memory = device->allocate(values.size() * sizeof(float), MemoryKind::kDevice);
    device->upload({memory.get(), 0, memory->size()}, std::as_bytes(std::span(values)));
    return memory;
  }
  std::vector<float> run(const LibraryMatmulCommand& command, const gpu::Memory& y) {
    const std::vector<gpu::Command> commands{command};
    const auto list = device->record(commands, false);
    list->submit();
    list->wait();
    std::vector<float> values(y.size() / sizeof(float));
    device->download({&y, 0, y.size()}, std::as_writable_bytes(std::span(values)));
    return values;
  }
  static std::string log() {
    static void* const library = dlopen(FAKE_CUBLASLT_LIBRARY, RTLD_NOW);
    return reinterpret_cast<const char* (*)()>(dlsym(library, "fakeCublasLog"))();
  }

  std::unique_ptr<gpu::Device> device = open_fake(true, true);
};

TEST_F(CudaBlas, ComputesRowsThroughColumns) {
  ASSERT_TRUE(device->properties().library_matmul);
  EXPECT_THAT(device->properties().driver_info, HasSubstr("cuBLASLt 13.0.2"));
  const auto a = uploaded({1, 2, 3, 4, 5, 6});                    // [2, 3]
  const auto b = uploaded({1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1});  // [3, 4]
  const auto bias = uploaded({0, 0, 100, -100});
  const auto y = uploaded(std::vector<float>(8));
  LibraryMatmulCommand command{.a = a->address(), .b = b->address(), .y = y->address()};
  command.m = 2;
  command.n = 4;
  command.k = 3;
  command.a_row = 3;
  command.b_row = 4;
  command.y_row = 4;
  EXPECT_EQ(run(command, *y), (std::vector<float>{1, 2, 3, 6, 4, 5, 6, 15}));
  EXPECT_THAT(log(), HasSubstr("A: f32 4x3 ld 4"));
  EXPECT_THAT(log(), HasSubstr("B: f32 3x2 ld 3"));
  EXPECT_THAT(log(), HasSubstr("D: f32 4x2 ld 4"));
  EXPECT_THAT(log(), HasSubstr("transposes NN; epilogue 1; beta 0"));

  command.bias = bias->address();
  command.epilogue = Epilogue::kRelu;
  command.alpha = 2;
  EXPECT_EQ(run(command, *y), (std::vector<float>{2, 4, 106, 0, 8, 10, 112, 0}));
  EXPECT_THAT(log(), HasSubstr("epilogue 6;"));  // CUBLASLT_EPILOGUE_RELU_BIAS
}

TEST_F(CudaBlas, TakesBatchesTransposesAndResiduals) {
  const auto a = uploaded({1, 2, 3, 4, 5, 6, 7, 8});  // [2, 2, 2], stored [2, k, m]
  const auto b = uploaded({1, 2, 3, 4});              // one for all, stored [n, k]
  const auto residual = uploaded({10, 10, 10, 10, 20, 20, 20, 20});
  const auto y = uploaded(std::vector<float>(8));
  LibraryMatmulCommand command{.a = a->address(), .b = b->address(), .y = y->address()};
  command.residual = residual->address();
  command.batch = 2;
  command.m = command.n = command.k = 2;
  command.a_batch_stride = command.y_batch_stride = 4;
  command.a_row = command.b_row = command.y_row = 2;
  command.transpose_a = command.transpose_b = true;
  // aᵀ = [1 3; 2 4], bᵀ = [1 3; 2 4]
  EXPECT_EQ(run(command, *y), (std::vector<float>{17, 25, 20, 32, 39, 63, 42, 70}));
  EXPECT_THAT(log(), HasSubstr("transposes TT; epilogue 1; beta 1"));
  EXPECT_THAT(log(), HasSubstr("batch 2 stride 0"));
}

TEST_F(CudaBlas, RoundsOperandsOnlyWhenAsked) {
  const float fine = 1.0F + std::ldexp(1.0F, -12);   // neither tf32 nor bf16 has it
  const float middle = 1.0F + std::ldexp(1.0F, -9);  // tf32 has it, bf16 has not
  const auto a = uploaded({fine, middle});
  const auto b = uploaded({1, 0, 0, 1});
  const auto y = uploaded(std::vector<float>(2));
  LibraryMatmulCommand command{.a = a->address(), .b = b->address(), .y = y->address()};
  command.m = 1;
  command.n = command.k = 2;
  command.a_row = command.b_row = command.y_row = 2;
  EXPECT_EQ(run(command, *y), (std::vector<float>{fine, middle}));
  EXPECT_THAT(log(), testing::Not(HasSubstr("fast")));
  command.operands = gpu::Operands::kTf32;
  EXPECT_EQ(run(command, *y), (std::vector<float>{1, middle}));
  EXPECT_THAT(log(), HasSubstr("fast_tf32"));
  command.operands = gpu::Operands::kBf16;
  EXPECT_EQ(run(command, *y), (std::vector<float>{1, 1}));
  EXPECT_THAT(log(), HasSubstr("fast_bf16"));
}

TEST_F(CudaBlas, TakesHalves) {
  const auto a = device->allocate(8, MemoryKind::kDevice);
  const std::vector<std::uint16_t> ones{0x3c00, 0x4000, 0x3c00, 0x4000};  // 1, 2, 1, 2
  device->upload({a.get(), 0, 8}, std::as_bytes(std::span(ones)));
  const auto y = device->allocate(8, MemoryKind::kDevice);
  LibraryMatmulCommand command{.a = a->address(), .b = a->address(), .y = y->address()};
  command.m = command.n = command.k = 2;
  command.a_row = command.b_row = command.y_row = 2;
  command.element_bytes = 2;
  run(command, *y);
  EXPECT_THAT(log(), HasSubstr("A: f16 2x2"));
  EXPECT_THAT(log(), HasSubstr("D: f16 2x2"));
  std::vector<std::uint16_t> halves(4);
  device->download({y.get(), 0, 8}, std::as_writable_bytes(std::span(halves)));
  EXPECT_EQ(halves, (std::vector<std::uint16_t>{0x4200, 0x4600, 0x4200, 0x4600}));  // 3, 6

  const auto wide = uploaded(std::vector<float>(4));
  command.y = wide->address();
  command.wide_result = true;
  EXPECT_EQ(run(command, *wide), (std::vector<float>{3, 6, 3, 6}));
  EXPECT_THAT(log(), HasSubstr("A: f16 2x2"));
  EXPECT_THAT(log(), HasSubstr("D: f32 2x2"));
}

TEST_F(CudaBlas, TakesBytes) {
  const auto ones = device->allocate(16, MemoryKind::kDevice);  // [4, 4], 1 2 3 -4 in each row
  const std::vector<std::int8_t> values{1, 2, 3, -4, 1, 2, 3, -4, 1, 2, 3, -4, 1, 2, 3, -4};
  device->upload({ones.get(), 0, 16}, std::as_bytes(std::span(values)));
  const auto y = device->allocate(64, MemoryKind::kDevice);
  LibraryMatmulCommand command{.a = ones->address(), .b = ones->address(), .y = y->address()};
  command.m = command.n = command.k = 4;
  command.a_row = command.b_row = command.y_row = 4;
  command.transpose_b = true;
  command.element_bytes = 1;
  run(command, *y);
  EXPECT_THAT(log(), HasSubstr("A: i8 4x4 ld 4"));
  EXPECT_THAT(log(), HasSubstr("D: i32 4x4 ld 4"));
  EXPECT_THAT(log(), HasSubstr("transposes TN;"));
  std::vector<std::int32_t> sums(16);
  device->download({y.get(), 0, 64}, std::as_writable_bytes(std::span(sums)));
  EXPECT_EQ(sums, std::vector<std::int32_t>(16, 30));
}

TEST_F(CudaBlas, PortableProductsAreSaid) {
  const auto portable = open_fake(true, false);
  EXPECT_FALSE(portable->properties().library_matmul);
  EXPECT_THAT(portable->properties().driver_info, HasSubstr("portable matrix products"));
}

}  // namespace
}  // namespace concord::cuda
