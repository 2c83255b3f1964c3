#include "backends/host/kernel.h"
#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

struct Layout {
  std::int64_t batch, heads, seq, depth;
  std::int64_t head_stride, seq_stride;

  Layout(const Shape& s, const std::string& layout) {
    if (s.size() != 4) throw Error(ErrorKind::failed, "internal: rotary over a rank other than 4");
    batch = s[0];
    depth = s[3];
    if (layout == "bshd") {
      seq = s[1];
      heads = s[2];
      seq_stride = heads * depth;
      head_stride = depth;
    } else {
      heads = s[1];
      seq = s[2];
      head_stride = seq * depth;
      seq_stride = depth;
    }
  }
};

// Row of the tables for a position of a sequence.
class Tables {
 public:
  Tables(const Call& call, const Layout& x)
      : cosines(call.data(1)), sines(call.data(2)), width(call.shape(1).back()) {
    const Shape& table = call.shape(1);
    if (call.shape(2) != table) {
      throw Error(ErrorKind::invalid, "the tables of cosines and sines differ in shape");
    }
    const std::int64_t rows = width == 0 ? 0 : call.input(1).count() / width;
    if (call.has(3)) {
      positions_ = call.input(3).ints();
      for (std::size_t i = 0; i < positions_.size(); ++i) {
        if (positions_[i] < 0 || positions_[i] >= rows) {
          throw Error(ErrorKind::invalid, "position " + std::to_string(positions_[i]) +
                                              " is not within a table of " + std::to_string(rows) +
                                              " rows");
        }
      }
      shared_ = static_cast<std::int64_t>(positions_.size()) == x.seq;
      if (!shared_ && static_cast<std::int64_t>(positions_.size()) != x.batch * x.seq) {
        throw Error(ErrorKind::invalid, std::to_string(positions_.size()) + " positions for " +
                                            std::to_string(x.batch) + " sequences of " +
                                            std::to_string(x.seq));
      }
    } else {
      shared_ = rows == x.seq;
      if (!shared_ && rows != x.batch * x.seq) {
        throw Error(ErrorKind::invalid, "a table of " + std::to_string(rows) +
                                            " rows does not fit " + std::to_string(x.batch) +
                                            " sequences of " + std::to_string(x.seq));
      }
    }
    seq_ = x.seq;
  }

  std::int64_t row(std::int64_t b, std::int64_t s) const {
    const std::int64_t place = shared_ ? s : b * seq_ + s;
    return (positions_.empty() ? place : positions_[static_cast<std::size_t>(place)]) * width;
  }

  const double* cosines;
  const double* sines;
  std::int64_t width;

 private:
  std::vector<std::int64_t> positions_;
  bool shared_ = false;
  std::int64_t seq_ = 0;
};

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const Layout x(shape, call.attrs().text("layout"));
  const Tables tables(call, x);
  const std::int64_t given = call.attrs().integer("rotary_dim", 0);
  const std::int64_t rotated = given == 0 ? x.depth : given;
  const std::int64_t half = rotated / 2;
  const bool interleaved = call.attrs().integer("interleaved", 0) != 0;
  const bool full = tables.width == rotated && rotated > half;
  if (!full && tables.width < half) {
    throw Error(ErrorKind::invalid, "tables of width " + std::to_string(tables.width) +
                                        " are too narrow to rotate " + std::to_string(rotated) +
                                        " elements");
  }
  const double* data = call.data(0);
  Output<N> y(call, 0, shape);
  parallel_for(
      x.batch * x.heads, grain_for(10.0 * static_cast<double>(x.seq * x.depth)),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t b = task / x.heads;
          for (std::int64_t s = 0; s < x.seq; ++s) {
            const std::int64_t base =
                b * x.heads * x.seq * x.depth + task % x.heads * x.head_stride + s * x.seq_stride;
            const std::int64_t row = tables.row(b, s);
            for (std::int64_t i = 0; i < half; ++i) {
              const std::int64_t first = base + (interleaved ? 2 * i : i);
              const std::int64_t second = base + (interleaved ? 2 * i + 1 : half + i);
              // A full table holds the angle of each element, not of each pair.
              const std::int64_t t1 = full ? row + first - base : row + i;
              const std::int64_t t2 = full ? row + second - base : row + i;
              const N x1 = number<N>(data[first]);
              const N x2 = number<N>(data[second]);
              y.set(first, x1 * number<N>(tables.cosines[t1]) - x2 * number<N>(tables.sines[t1]));
              y.set(second, x2 * number<N>(tables.cosines[t2]) + x1 * number<N>(tables.sines[t2]));
            }
            for (std::int64_t i = rotated; i < x.depth; ++i) {
              y.set(base + i, number<N>(data[base + i]));
            }
          }
        }
      });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_rotary{run};

}  // namespace concord::reference
