#include "backends/host/cast.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

struct IntegerRange {
  double lowest;
  double highest;
};

IntegerRange range_of(DataType dtype) {
  const int width = bits(dtype);
  if (is_signed_integer(dtype)) {
    return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
  }
  return {0, std::ldexp(1.0, width) - 1};
}

// Two's complement bits of a truncated float. `range.highest` may round up to a power of two in
// float64, which does not fit: hence the comparison with >=.
std::uint64_t integer_bits(double value, DataType to) {
  if (std::isnan(value)) return 0;
  // Types below a byte keep the low bits, as ONNX's data has it.
  if (is_sub_byte(to)) return integer_bits(value, DataType::i64);
  const IntegerRange range = range_of(to);
  const double whole = std::trunc(value);
  if (whole >= range.highest) {
    const int width = bits(to) - (is_signed_integer(to) ? 1 : 0);
    return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  }
  if (whole <= range.lowest) {
    return is_signed_integer(to) ? std::uint64_t{1} << (bits(to) - 1) : 0;
  }
  return whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                   : static_cast<std::uint64_t>(whole);
}

// Writes elements of any numeric type by their bits; sub-byte types go through bytes.
class Writer {
 public:
  Writer(DataType dtype, const Shape& shape)
      : dtype_(dtype), result_(is_sub_byte(dtype) ? DataType::u8 : dtype, shape) {}

  template <typename F>  // f(i) → bits of element i
  Tensor fill(F&& f) {
    with_raw(result_.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>) {
        const auto to = raw_mutable<T>(result_);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(f(i));
      }
    });
    return is_sub_byte(dtype_) ? packed_as(dtype_, result_) : std::move(result_);
  }

 private:
  DataType dtype_;
  Tensor result_;
};

Tensor from_floats(std::span<const double> values, const Shape& shape, DataType to, bool saturate) {
  Writer writer(to, shape);
  if (to == DataType::boolean) return writer.fill([&](std::size_t i) { return values[i] != 0; });
  if (is_float(to)) {
    return writer.fill([&](std::size_t i) { return float_to_bits(to, values[i], saturate); });
  }
  return writer.fill([&](std::size_t i) { return integer_bits(values[i], to); });
}

Tensor from_integers(const Tensor& x, DataType to, bool saturate) {
  const std::vector<std::int64_t> values = x.ints();
  const bool large = x.dtype() == DataType::u64;
  const auto number = [&](std::size_t i) {
    return large ? static_cast<double>(static_cast<std::uint64_t>(values[i]))
                 : static_cast<double>(values[i]);
  };
  Writer writer(to, x.shape());
  if (to == DataType::boolean) return writer.fill([&](std::size_t i) { return values[i] != 0; });
  if (to == DataType::f32) {
    // At once, not by way of float64, which would round twice.
    return writer.fill([&](std::size_t i) {
      return float_to_bits(to, large ? static_cast<float>(static_cast<std::uint64_t>(values[i]))
                                     : static_cast<float>(values[i]));
    });
  }
  if (is_float(to)) {
    return writer.fill([&](std::size_t i) { return float_to_bits(to, number(i), saturate); });
  }
  return writer.fill([&](std::size_t i) { return static_cast<std::uint64_t>(values[i]); });
}

// Whatever the locale; spaces around and a plus sign are allowed.
template <typename T>
T read_number(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  const auto last = text.find_last_not_of(" \t\n");
  T value = 0;
  if (first != std::string::npos) {
    const char* begin = text.data() + first + (text[first] == '+' ? 1 : 0);
    const char* end = text.data() + last + 1;
    const auto [at, error] = std::from_chars(begin, end, value);
    if (error == std::errc{} && at == end) return value;
    // Beyond the type's range from_chars leaves the value alone.
    if (error == std::errc::result_out_of_range && at == end) {
      if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(std::strtold(std::string(begin, end).c_str(), nullptr));
      }
    }
  }
  fail("\"" + text + "\" is not a number");
}

Tensor from_strings(const Tensor& x, DataType to, bool saturate) {
  const std::span<const std::string> texts = x.strings();
  if (!is_float(to) && to != DataType::boolean) {
    Writer writer(to, x.shape());
    return writer.fill([&](std::size_t i) -> std::uint64_t {
      const std::string& text = texts[i];
      if (text.find_first_of(".eEnN") != std::string::npos) {
        return integer_bits(read_number<double>(text), to);
      }
      if (to == DataType::u64) return read_number<std::uint64_t>(text);
      return static_cast<std::uint64_t>(read_number<std::int64_t>(text));
    });
  }
  std::vector<double> values;
  for (const std::string& text : texts) {
    // Rounded to float32 at once where that is asked for.
    values.push_back(to == DataType::f32 ? static_cast<double>(read_number<float>(text))
                                         : read_number<double>(text));
  }
  return from_floats(values, x.shape(), to, saturate);
}

Tensor to_strings(const Tensor& x) {
  Tensor y(DataType::string, x.shape());
  const std::span<std::string> to = y.mutable_strings();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (is_float(x.dtype())) {
      to[i] = float_text(x.at_double(at), x.dtype());
    } else if (x.dtype() == DataType::boolean) {
      to[i] = x.at_int(at) != 0 ? "True" : "False";
    } else if (x.dtype() == DataType::u64) {
      to[i] = std::to_string(static_cast<std::uint64_t>(x.at_int(at)));
    } else {
      to[i] = std::to_string(x.at_int(at));
    }
  }
  return y;
}

std::vector<Tensor> run(const Call& call) {
  return {cast(call.input(0), call.node.attrs.dtype("to"),
               call.node.attrs.integer("saturate", 1) != 0)};
}

}  // namespace

std::string float_text(double value, DataType dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // Plain notation from 1e-4 to 1e16, as numpy has it; types below float32 are shown as float32.
  const double magnitude = std::abs(value);
  const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  char buffer[64];
  const auto result =
      dtype == DataType::f64
          ? std::to_chars(buffer, buffer + sizeof buffer, value, format)
          : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value), format);
  std::string text(buffer, result.ptr);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

Tensor cast(const Tensor& x, DataType to, bool saturate) {
  if (x.dtype() == to) return x;
  if (x.dtype() == DataType::string) return from_strings(x, to, saturate);
  if (to == DataType::string) return to_strings(x);
  if (is_float(x.dtype())) return from_floats(doubles(x), x.shape(), to, saturate);
  return from_integers(x, to, saturate);
}

const Kernel host_cast{nullptr, run};

}  // namespace concord::host
