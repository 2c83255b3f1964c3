// Which instruction set the kernels use. Chosen once by run-time dispatch; may be lowered, for
// tests and for `--isa`, before any other thread uses a kernel.
#pragma once

#include <string_view>

namespace concord::cpu {

enum class Isa { baseline, avx2, avx512 };

// The best that this machine and limit_isa() allow.
Isa current_isa();

// Lowers the instruction set of the whole process, oneDNN not included. Weights packed before are
// in the layout of the earlier one and must not be used afterwards. native_isa() lifts the limit.
void limit_isa(Isa highest);
Isa native_isa();

// AVX-512 with bf16 dot products, and with int8 dot products (VNNI). False under a lower limit.
bool has_bf16_dot();
bool has_int8_dot();

std::string_view isa_name(Isa isa);

}  // namespace concord::cpu
