// com.microsoft's GatherBlockQuantized: rows of a table of 4-bit or 8-bit numbers, with a scale for
// each block along another axis. Only the rows that are taken are dequantised.
#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

// Bytes that hold two numbers each along the last axis, low half first, as one number each.
ValueId halves(Conversion& c, ValueId packed, const Dim& count) {
  const std::int64_t rank = c.known_rank(packed);
  const ValueId low = c.binary(BinaryFn::bit_and, packed, 15.0);
  const ValueId high = c.binary(BinaryFn::shift_right, packed, 4.0);
  const ValueId pairs = c.concat({c.unsqueeze(low, {rank}), c.unsqueeze(high, {rank})}, rank);
  SymShape shape = c.known_shape(packed);
  shape.back() = shape.back() * Dim(2);
  const ValueId flat = c.reshape(pairs, std::move(shape));
  // An odd number leaves half a byte unused.
  return c.known_shape(flat).back() == count ? flat : c.slice(flat, rank - 1, 0, count);
}

void gather_block_quantized(Conversion& c) {
  const ValueId data = c.input(0);
  const ValueId scales = c.input(2);
  const std::int64_t rank = c.known_rank(data);
  const std::int64_t gather_axis = c.axis(c.integer("gather_axis", 0), rank);
  const std::int64_t quantize_axis = c.axis(c.integer("quantize_axis", 1), rank);
  const std::int64_t block = c.integer("block_size", 128);
  const std::int64_t bits = c.integer("bits", 4);
  if (gather_axis == quantize_axis) c.invalid("it gathers along the axis of its blocks");
  if (bits != 4 && bits != 8) c.unsupported(std::to_string(bits) + " bits");
  const bool is_bytes = c.dtype(data) == DataType::u8;
  const bool is_packed = is_bytes && bits == 4;
  if (is_packed && quantize_axis + 1 != rank) {
    c.invalid("packed numbers need their blocks along the last axis");
  }
  const std::int64_t moved = c.known_rank(c.input(1)) - 1;
  const std::int64_t axis = quantize_axis < gather_axis ? quantize_axis : quantize_axis + moved;
  const auto take = [&](ValueId x) { return c.gather(x, c.input(1), gather_axis); };
  const ValueId scale = take(scales);
  ValueId x = take(data);
  if (is_packed) x = halves(c, x, c.known_shape(x).back() * Dim(2));
  ValueId zero = c.optional_input(3);
  if (zero.valid()) {
    zero = take(zero);
    if (is_packed) zero = halves(c, zero, c.known_shape(scale).back());
  } else if (is_bytes) {
    zero = c.broadcast(c.make_scalar(bits == 4 ? 8 : 128, DataType::u8), c.known_shape(scale));
  }
  c.output(0, dequantize(c, x, scale, zero, axis, block));
}

constexpr Converter kConverters[] = {
    {kMicrosoft, "GatherBlockQuantized", 1, kLatest, gather_block_quantized},
};

}  // namespace

std::span<const Converter> gather_quantized_converters() {
  return kConverters;
}

}  // namespace concord::importer
