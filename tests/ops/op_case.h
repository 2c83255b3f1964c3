#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "graph/complex.h"
#include "graph/graph.h"

namespace concord::ops_test {

// Operands are filled by a seeded generator, or given as tensors.
struct Fill {
  enum class Kind : std::uint8_t { normal, uniform, integers, values, bits } kind = Kind::normal;
  double low = 0;                 // uniform: [low, high); integers: [low, high]; normal: mean
  double high = 1;                // normal: standard deviation
  std::vector<double> list = {};  // values, repeated as needed
};
inline Fill normal(double mean = 0, double deviation = 1) {
  return {Fill::Kind::normal, mean, deviation};
}
inline Fill uniform(double low, double high) {
  return {Fill::Kind::uniform, low, high};
}
inline Fill integers(std::int64_t low, std::int64_t high) {
  return {Fill::Kind::integers, static_cast<double>(low), static_cast<double>(high)};
}
inline Fill values(std::vector<double> list) {
  return {Fill::Kind::values, 0, 0, std::move(list)};
}
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// NaN, infinities, both zeros, subnormal and the largest float32, between ordinary numbers.
inline Fill extremes() {
  return values({1, kNaN, -2.5, kInfinity, 0.0, -0.0, -kInfinity, 0x1p-149, -0x1p-140, 3.5,
                 0x1.fffffep127, -0x1.fffffep127, 0.25});
}

// As extremes without the largest numbers, whose squares a float32 cannot hold.
inline Fill specials() {
  return values({1, kNaN, -2.5, kInfinity, 0.0, -0.0, -kInfinity, 0x1p-149, 3.5, 0.25});
}
// Bit patterns at the edges of any type: zeros, ones, the sign alone, all but the sign, one,
// alternating bits. In floats they are zeros of both signs, NaN, subnormals; in integers the least
// and the largest.
inline Fill edge_bits() {
  return {Fill::Kind::bits};
}
// Every type but strings.
std::vector<DataType> all_types();

struct Operand {
  DataType dtype = DataType::undefined;  // undefined: the input is omitted
  Shape shape;
  Fill fill;
  bool constant = false;  // a weight, known when the program is made
  bool model_input = true;
};

// One node with its operands: shapes, types and attributes; the tolerance comes from the budget.
class OpCase {
 public:
  explicit OpCase(std::string case_name) : name(std::move(case_name)) {}

  OpCase& in(DataType dtype, Shape shape, Fill fill = normal()) {
    operands.push_back({dtype, std::move(shape), std::move(fill), false, true});
    return *this;
  }
  OpCase& weight(DataType dtype, Shape shape, Fill fill = normal()) {
    operands.push_back({dtype, std::move(shape), std::move(fill), true, false});
    return *this;
  }
  OpCase& omit() {
    operands.push_back({});
    return *this;
  }
  OpCase& set(const std::string& attribute, graph::AttrValue value) {
    attrs.set(attribute, std::move(value));
    return *this;
  }
  OpCase& set(const std::string& attribute, const char* text) {
    return set(attribute, graph::AttrValue(std::string(text)));
  }
  OpCase& set(const std::string& attribute, int value) {
    return set(attribute, graph::AttrValue(std::int64_t{value}));
  }
  OpCase& set(const std::string& attribute, double value) {
    return set(attribute, graph::AttrValue(value));
  }
  OpCase& ints(const std::string& attribute, std::vector<std::int64_t> list) {
    return set(attribute, graph::AttrValue(std::move(list)));
  }
  OpCase& dims(const std::string& attribute, const std::vector<std::int64_t>& list) {
    return set(attribute, graph::AttrValue(SymShape(list.begin(), list.end())));
  }
  OpCase& outputs(int count) {
    output_count = count;
    return *this;
  }

  // The run must end in an error that names the node and says this.
  OpCase& refused(const std::string& words) {
    refusal = words;
    return *this;
  }

  std::string name;
  std::string refusal;  // empty: it must run
  std::vector<Operand> operands;
  graph::Attributes attrs;
  int output_count = 1;
};

using OpCases = std::vector<OpCase>;

// tests/ops/<name>.cpp defines the cases of one operator.
#define CONCORD_OP(name) OpCases cases_##name();
#include "graph/ops.def"
#undef CONCORD_OP

// The operand's tensor; the same for the same seed.
Tensor make_tensor(const Operand& operand, std::uint64_t seed);

}  // namespace concord::ops_test
