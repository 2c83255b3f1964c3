#include "backends/spec.h"

#include <gtest/gtest.h>

#include "graph/error.h"

namespace concord {
namespace {

TEST(Spec, NameAlone) {
  const BackendSpec spec = parse_spec("vulkan");
  EXPECT_EQ(spec.backend, "vulkan");
  EXPECT_EQ(spec.device, "");
  EXPECT_TRUE(spec.fusion);
}

TEST(Spec, EveryKey) {
  const BackendSpec cpu =
      parse_spec("cpu:device=1,threads=3,precision=bf16,fusion=off,isa=avx2,matmul=library");
  EXPECT_EQ(cpu.device, "1");
  EXPECT_EQ(cpu.options.threads, 3);
  EXPECT_EQ(cpu.options.precision, Precision::bf16);
  EXPECT_FALSE(cpu.fusion);
  EXPECT_EQ(cpu.options.isa, "avx2");
  EXPECT_EQ(cpu.options.matmul, MatmulSource::library);
  const BackendSpec cuda = parse_spec("cuda:matmul=portable,replay=off");
  EXPECT_EQ(cuda.options.matmul, MatmulSource::portable);
  EXPECT_FALSE(cuda.options.replay);
  EXPECT_EQ(parse_spec("vulkan:isa=avx2,threads=2").options.isa, "avx2");  // of its fallbacks
}

TEST(Spec, ListGivesKeysToTheSpecBefore) {
  const std::vector<BackendSpec> specs =
      parse_specs("cpu,threads=1,precision=bf16,vulkan:device=a b,cpu");
  ASSERT_EQ(specs.size(), 3u);
  EXPECT_EQ(specs[0].text, "cpu:threads=1,precision=bf16");
  EXPECT_EQ(specs[1].device, "a b");
  EXPECT_EQ(specs[2].text, "cpu");
}

TEST(Spec, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", ":threads=1", "cpu:", "cpu:threads", "cpu:threads=0", "cpu:threads=x",
        "cpu:precision=f8", "cpu:fusion=yes", "cpu:isa=sse", "cpu:speed=high",
        "cpu:threads=", "cpu:threads=1,threads=2", "cpu:threads=1,threads=1", "cpu:replay=off",
        "cpu:matmul=fast", "vulkan:matmul=library", "reference:threads=1"}) {
    try {
      parse_spec(text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
      EXPECT_FALSE(error.hint().empty()) << text;
    }
  }
}

}  // namespace
}  // namespace concord
