// Random numbers are a hash of a seed and a position (core operator random), so a model gives the
// same results on every backend and in every run; a node without a seed takes one from the name of
// its output.
#include <bit>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

struct Distribution {
  const char* fn;
  double alpha;
  double beta;
};

constexpr Distribution kUnit{"uniform", 0, 1};

Distribution uniform(Conversion& c) {
  return {"uniform", c.number("low", 0), c.number("high", 1)};
}
Distribution normal(Conversion& c) {
  return {"normal", c.number("mean", 0), c.number("scale", 1)};
}

ValueId draw(Conversion& c, const Distribution& distribution, DataType dtype, SymShape shape) {
  return c.emit(OpKind::random, {},
                {{"fn", std::string(distribution.fn)},
                 {"alpha", distribution.alpha},
                 {"beta", distribution.beta},
                 {"seed", random_seed(c)},
                 {"to", dtype},
                 {"shape", std::move(shape)}});
}

DataType type_attribute(Conversion& c, DataType otherwise) {
  return static_cast<DataType>(c.integer("dtype", static_cast<std::int64_t>(otherwise)));
}

template <Distribution (*distribution)(Conversion&)>
void of_shape(Conversion& c) {
  const auto extents = c.integers("shape");
  if (!extents) c.invalid("attribute 'shape' is missing");
  c.output(0, draw(c, distribution(c), type_attribute(c, DataType::f32),
                   SymShape(extents->begin(), extents->end())));
}

template <Distribution (*distribution)(Conversion&)>
void like(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, draw_like(c, distribution(c).fn, distribution(c).alpha, distribution(c).beta,
                        type_attribute(c, c.dtype(x)), x));
}

// Ones with the probability that the element gives.
void bernoulli(Conversion& c) {
  const ValueId x = c.input(0);
  const DataType to = type_attribute(c, c.dtype(x));
  const ValueId drawn = draw_like(c, kUnit.fn, kUnit.alpha, kUnit.beta, c.dtype(x), x);
  c.output(0, c.cast(c.binary(BinaryFn::less, drawn, x), to));
}

// Classes drawn by unnormalised log probabilities [batch, classes]: how many of the cumulated
// probabilities lie at or below a number from [0, 1).
void multinomial(Conversion& c) {
  const ValueId x = c.input(0);
  const SymShape shape = c.known_shape(x);
  if (shape.size() != 2) c.invalid("expects rank 2, found " + std::to_string(shape.size()));
  const std::int64_t samples = c.integer("sample_size", 1);
  const ValueId chances = c.emit(
      OpKind::softmax, {x},
      {{"axis", std::int64_t{1}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}});
  const ValueId cumulated = c.emit(
      OpKind::cum_sum, {chances},
      {{"axis", std::int64_t{1}}, {"exclusive", std::int64_t{0}}, {"reverse", std::int64_t{0}}});
  const ValueId drawn = draw(c, kUnit, c.dtype(x), {shape[0], Dim(samples)});
  const ValueId passed =
      c.binary(BinaryFn::less_equal, c.unsqueeze(cumulated, {1}), c.unsqueeze(drawn, {2}));
  const ValueId counted = c.reduce(ReduceFn::sum, c.cast(passed, DataType::i64), {2}, false);
  // A last cumulated probability that rounding left below 1 may be passed too.
  const ValueId last =
      c.cast(c.emit(OpKind::shape_of, {x}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}}),
             DataType::i64);
  const ValueId most = c.binary(BinaryFn::sub, last, 1.0);
  c.output(0, c.cast(c.binary(BinaryFn::min, counted, most), type_attribute(c, DataType::i32)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Bernoulli", 15, kLatest, bernoulli},
    {kOnnx, "Multinomial", 7, kLatest, multinomial},
    {kOnnx, "RandomNormal", 1, kLatest, of_shape<normal>},
    {kOnnx, "RandomNormalLike", 1, kLatest, like<normal>},
    {kOnnx, "RandomUniform", 1, kLatest, of_shape<uniform>},
    {kOnnx, "RandomUniformLike", 1, kLatest, like<uniform>},
};

}  // namespace

std::int64_t random_seed(Conversion& c) {
  if (c.has_attribute("seed")) {
    if (c.op() == "Dropout") return c.integer("seed");
    return std::bit_cast<std::int32_t>(static_cast<float>(c.number("seed")));
  }
  // FNV-1a.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : c.output_name()) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return static_cast<std::int64_t>(hash);
}

ValueId draw_like(Conversion& c, const char* fn, double alpha, double beta, DataType dtype,
                  ValueId x) {
  Attributes attrs{{"fn", std::string(fn)},
                   {"alpha", alpha},
                   {"beta", beta},
                   {"seed", random_seed(c)},
                   {"to", dtype}};
  if (c.shape(x)) {
    attrs.set("shape", *c.shape(x));
    return c.emit(OpKind::random, {}, std::move(attrs));
  }
  constexpr std::int64_t all = INT64_MAX;
  const ValueId extents = c.emit(OpKind::shape_of, {x}, {{"start", std::int64_t{0}}, {"end", all}});
  return c.emit(OpKind::random, {extents}, std::move(attrs));
}

std::span<const Converter> random_converters() {
  return kConverters;
}

}  // namespace concord::importer
