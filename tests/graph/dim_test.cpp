#include "graph/dim.h"

#include <limits>

#include <gtest/gtest.h>

namespace concord {
namespace {

const Dim b = Dim::symbol("b");
const Dim s = Dim::symbol("s");
const Dim p = Dim::symbol("p");
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(Dim, KeepsACanonicalForm) {
  EXPECT_EQ((s + p) * b, b * p + s * b);
  EXPECT_EQ(s - s, Dim(0));
  EXPECT_EQ((s + p).to_string(), "p + s");
  EXPECT_EQ((2 * s - 3).to_string(), "2*s - 3");
}

TEST(Dim, DividesExactly) {
  EXPECT_EQ(Dim::exact_div(b * s * 64, b * s), Dim(64));
  EXPECT_EQ(Dim::exact_div(b * s + b * p, b), s + p);
  EXPECT_EQ(Dim::exact_div((b + s) * (p + 2), p + 2), b + s);
  EXPECT_EQ(Dim::exact_div((b + s) * (p + 2) * (s + 3), p + 2), (b + s) * (s + 3));
  EXPECT_FALSE(Dim::exact_div(b * s + 1, b));
  EXPECT_FALSE(Dim::exact_div(b + s, b + p));
}

TEST(Dim, RoundsDivisions) {
  EXPECT_EQ(Dim::floor_div(2 * s + 1, 2), s);
  EXPECT_EQ(Dim::floor_div(2 * s - 1, 2), s - 1);
  EXPECT_EQ(Dim::ceil_div(2 * s - 1, 2), s);
  EXPECT_EQ(Dim::floor_div(b * s + b, b), s + 1);
  EXPECT_EQ(Dim::floor_div(Dim::floor_div(s, 2), 3), Dim::floor_div(s, 6));
  EXPECT_EQ(Dim::ceil_div(s, 2), Dim::floor_div(s + 1, 2));
  EXPECT_EQ(Dim::mod(4 * s + 3, 2), Dim(1));
  EXPECT_EQ(Dim::trunc_div(-7, 2), Dim(-3));
  EXPECT_EQ(Dim::floor_div(-7, 2), Dim(-4));
  EXPECT_EQ(Dim::ceil_div(-7, 2), Dim(-3));
  EXPECT_EQ(Dim::mod(-7, 2), Dim(1));
  EXPECT_EQ(Dim::trunc_div(s, 2), Dim::floor_div(s, 2));
}

TEST(Dim, DecidesWhereSymbolsAreNonNegative) {
  EXPECT_EQ(Dim::max(0, s), s);
  EXPECT_EQ(Dim::min(s, kMax), s);
  EXPECT_EQ(Dim::min(s, s + p), s);
  EXPECT_EQ(Dim::max(s, s + p), s + p);
  EXPECT_EQ(Dim::equal(s, -1), Dim(0));
  EXPECT_EQ(Dim::less(s, 0), Dim(0));
  EXPECT_EQ(Dim::less(s, s + 1), Dim(1));
  EXPECT_EQ(Dim::less(s, s + p), Dim::less(s, s + p));
  EXPECT_FALSE(Dim::less(s, s + p).is_constant());  // p may be 0
  EXPECT_EQ(Dim::select(Dim::equal(s, -1), 1, s), s);
  const Dim m = Dim::min(s, 512);
  EXPECT_EQ(Dim::max(0, s - m), s - m);
  EXPECT_EQ(Dim::min(m, s), m);
  EXPECT_EQ(Dim::max(m, s), s);
}

TEST(Dim, Broadcasts) {
  EXPECT_EQ(Dim::broadcast(s, 1), s);
  EXPECT_EQ(Dim::broadcast(1, s), s);
  EXPECT_EQ(Dim::broadcast(s, 8), Dim(8));
  EXPECT_EQ(Dim::broadcast(s, s), s);
  EXPECT_EQ(Dim::broadcast(Dim::min(s, 1024), s), s);
  EXPECT_EQ(Dim::broadcast(s + 2, b), s + 2);
  const Dim both = Dim::broadcast(b, s);
  EXPECT_EQ(Dim::broadcast(both, s), both);
  EXPECT_EQ(both.evaluate({{"b", 1}, {"s", 7}}), 7);
  EXPECT_EQ(both.evaluate({{"b", 7}, {"s", 1}}), 7);
  EXPECT_EQ(both.evaluate({{"b", 0}, {"s", 1}}), 0);
  EXPECT_EQ(both.evaluate({{"b", 1}, {"s", 1}}), 1);
}

TEST(Dim, WrapsInsteadOfOverflowing) {
  EXPECT_EQ(Dim(kMax) + 1, Dim(kMin));
  EXPECT_EQ(Dim(kMax) * 2, Dim(-2));
  EXPECT_EQ(Dim::floor_div(kMin, -1), Dim(kMin));
  EXPECT_EQ(Dim::trunc_div(kMin, -1), Dim(kMin));
  EXPECT_EQ(Dim::mod(kMin, -1), Dim(0));
  EXPECT_EQ(Dim::less(kMin, kMax), Dim(1));
  EXPECT_EQ(Dim::equal(s + kMax, s + kMin), Dim::equal(s + kMin, s + kMax));
  const Dim huge = s * kMax;
  EXPECT_EQ(huge.evaluate({{"s", 4}}), std::nullopt);
  EXPECT_FALSE(Dim::less(huge * huge, 0).to_string().empty());
  EXPECT_EQ((s * Dim(kMin)).to_string(), "-9223372036854775808*s");
  EXPECT_EQ(Dim::floor_div(s, 0).evaluate({{"s", 4}}), std::nullopt);
}

TEST(Dim, NoticesWhenItGrowsTooLarge) {
  Dim d = s;
  for (int i = 0; i < 64 && !d.too_complex(); ++i) d = Dim::min(d * d + b, p * d);
  EXPECT_TRUE(d.too_complex());
  EXPECT_FALSE((b * s + p).too_complex());
}

// Simplified and literal evaluation agree over small values, for random expressions.
TEST(Dim, SimplificationIsExact) {
  std::uint64_t state = 7;
  const auto random = [&](int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 3000; ++round) {
    // A pool of expressions, each with its values at all points of a grid.
    struct Entry {
      Dim dim;
      std::vector<std::optional<std::int64_t>> at;
    };
    constexpr int kSide = 5;
    std::vector<Entry> pool;
    const auto grid = [&](auto&& f) {
      std::vector<std::optional<std::int64_t>> v;
      for (int x = 0; x < kSide; ++x) {
        for (int y = 0; y < kSide; ++y) v.push_back(f(x, y));
      }
      return v;
    };
    pool.push_back({b, grid([](int x, int) { return x; })});
    pool.push_back({s, grid([](int, int y) { return y; })});
    for (const int c : {random(7) - 3, 1, random(4) + 1}) {
      pool.push_back({c, grid([&](int, int) { return c; })});
    }
    for (int step = 0; step < 6; ++step) {
      const Entry l = pool[static_cast<std::size_t>(random(static_cast<int>(pool.size())))];
      const Entry r = pool[static_cast<std::size_t>(random(static_cast<int>(pool.size())))];
      const Entry c = pool[static_cast<std::size_t>(random(static_cast<int>(pool.size())))];
      const int what = random(11);
      Entry e;
      switch (what) {
        case 0:
          e.dim = l.dim + r.dim;
          break;
        case 1:
          e.dim = l.dim - r.dim;
          break;
        case 2:
          e.dim = l.dim * r.dim;
          break;
        case 3:
          e.dim = Dim::min(l.dim, r.dim);
          break;
        case 4:
          e.dim = Dim::max(l.dim, r.dim);
          break;
        case 5:
          e.dim = Dim::floor_div(l.dim, r.dim);
          break;
        case 6:
          e.dim = Dim::ceil_div(l.dim, r.dim);
          break;
        case 7:
          e.dim = Dim::mod(l.dim, r.dim);
          break;
        case 8:
          e.dim = Dim::less(l.dim, r.dim);
          break;
        case 9:
          e.dim = Dim::trunc_div(l.dim, r.dim);
          break;
        default:
          e.dim = Dim::select(c.dim, l.dim, r.dim);
          break;
      }
      for (std::size_t i = 0; i < l.at.size(); ++i) {
        const auto x = l.at[i];
        const auto y = r.at[i];
        const bool divides = what == 5 || what == 6 || what == 7 || what == 9;
        if (!x || !y || !c.at[i] || (divides && *y == 0)) {
          e.at.emplace_back();
          continue;
        }
        const auto floor = [](std::int64_t u, std::int64_t v) {
          return u / v - ((u % v != 0 && (u < 0) != (v < 0)) ? 1 : 0);
        };
        switch (what) {
          case 0:
            e.at.emplace_back(*x + *y);
            break;
          case 1:
            e.at.emplace_back(*x - *y);
            break;
          case 2:
            e.at.emplace_back(*x * *y);
            break;
          case 3:
            e.at.emplace_back(std::min(*x, *y));
            break;
          case 4:
            e.at.emplace_back(std::max(*x, *y));
            break;
          case 5:
            e.at.emplace_back(floor(*x, *y));
            break;
          case 6:
            e.at.emplace_back(-floor(-*x, *y));
            break;
          case 7:
            e.at.emplace_back(*x - floor(*x, *y) * *y);
            break;
          case 8:
            e.at.emplace_back(*x < *y ? 1 : 0);
            break;
          case 9:
            e.at.emplace_back(*x / *y);
            break;
          default:
            e.at.emplace_back(*c.at[i] != 0 ? *x : *y);
            break;
        }
      }
      std::size_t i = 0;
      for (int x = 0; x < kSide; ++x) {
        for (int y = 0; y < kSide; ++y, ++i) {
          if (!e.at[i]) continue;
          const auto v = e.dim.evaluate({{"b", x}, {"s", y}});
          // A division by zero that stands inside may have been simplified away, never the
          // other way round where the value is known at this point.
          if (v) {
            ASSERT_EQ(*v, *e.at[i])
                << e.dim.to_string() << " at b=" << x << " s=" << y << ", operation " << what
                << " of " << l.dim.to_string() << " and " << r.dim.to_string();
          }
        }
      }
      if (!e.dim.too_complex()) pool.push_back(std::move(e));
    }
  }
}

TEST(Dim, BindsSymbols) {
  Bindings bindings;
  const std::vector<Dim> shape{b, s + p, 64};
  EXPECT_EQ(bind_shape(std::vector<Dim>{b, p}, std::vector<std::int64_t>{2, 5}, bindings),
            std::nullopt);
  EXPECT_EQ(bind_shape(shape, std::vector<std::int64_t>{2, 12, 64}, bindings), std::nullopt);
  EXPECT_EQ(bindings["s"], 7);
  EXPECT_NE(bind_shape(shape, std::vector<std::int64_t>{3, 12, 64}, bindings), std::nullopt);
  EXPECT_NE(bind_shape(shape, std::vector<std::int64_t>{2, 12}, bindings), std::nullopt);
}

TEST(Dim, ParsesExportersNames) {
  EXPECT_EQ(parse_dim("past_seq + seq"), Dim::symbol("past_seq") + Dim::symbol("seq"));
  EXPECT_EQ(parse_dim("2*n"), 2 * Dim::symbol("n"));
  EXPECT_EQ(parse_dim("seq-1"), Dim::symbol("seq") - 1);
  EXPECT_EQ(parse_dim("p2o.DynamicDimension.0").symbol_name(), "p2o.DynamicDimension.0");
  EXPECT_EQ(parse_dim("batch-size").symbol_name(), "batch-size");
  EXPECT_EQ(parse_dim("batch size").symbol_name(), "batch size");
  EXPECT_TRUE(parse_dim("?").symbol_name().has_value());
  EXPECT_FALSE(parse_dim("?").has_dynamic());
  EXPECT_FALSE(parse_dim("min(a, b) c") == Dim::min(Dim::symbol("a"), Dim::symbol("b")));
  EXPECT_EQ(parse_dim(std::string(10000, '(')).is_constant(), false);
}

}  // namespace
}  // namespace concord
