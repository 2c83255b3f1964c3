#include <map>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

template <typename T>
using Grams = std::map<std::vector<T>, std::int64_t>;  // n-gram → column

// Grams of length n at [n]; index 0 stays empty.
template <typename T>
std::vector<Grams<T>> load(const graph::Attributes& attrs, std::span<const T> pool) {
  const auto& starts = attrs.integers("starts");
  const auto& indexes = attrs.integers("indexes");
  std::vector<Grams<T>> grams(starts.size() + 1);
  std::size_t next = 0;
  for (std::size_t n = 1; n <= starts.size(); ++n) {
    const std::size_t end = n < starts.size() ? static_cast<std::size_t>(starts[n]) : pool.size();
    for (auto at = static_cast<std::size_t>(starts[n - 1]); at < end; at += n) {
      const auto gram = pool.subspan(at, n);
      grams[n].emplace(std::vector<T>(gram.begin(), gram.end()), indexes[next++]);
    }
  }
  return grams;
}

// Adds one to the column of every n-gram of the row. Its words are 1, 2, … skip + 1 places apart,
// evenly; single words have no distance and are counted once.
template <typename T>
void count(const graph::Attributes& attrs, const std::vector<Grams<T>>& grams,
           std::span<const T> row, std::span<double> frequencies) {
  const auto longest =
      std::min<std::size_t>(static_cast<std::size_t>(attrs.integer("max_gram")), grams.size() - 1);
  for (auto n = static_cast<std::size_t>(attrs.integer("min_gram")); n <= longest; ++n) {
    if (grams[n].empty()) continue;
    const std::size_t distances = n == 1 ? 1 : static_cast<std::size_t>(attrs.integer("skip")) + 1;
    for (std::size_t distance = 1; distance <= distances; ++distance) {
      for (std::size_t begin = 0; begin + (n - 1) * distance < row.size(); ++begin) {
        std::vector<T> gram;
        for (std::size_t i = 0; i < n; ++i) gram.push_back(row[begin + i * distance]);
        const auto it = grams[n].find(gram);
        if (it != grams[n].end()) frequencies[static_cast<std::size_t>(it->second)] += 1;
      }
    }
  }
}

template <typename T>
Tensor vectors(const Call& call, std::span<const T> x, std::span<const T> pool) {
  const graph::Attributes& attrs = call.node.attrs;
  const std::vector<Grams<T>> grams = load(attrs, pool);
  Shape shape = call.input(0).shape();
  if (shape.empty() || shape.size() > 2) fail(call.name_of(0) + " must have rank 1 or 2");
  const auto width = static_cast<std::size_t>(shape.back());
  const auto size = static_cast<std::size_t>(attrs.integer("size"));
  const std::size_t rows = shape.size() == 2 ? static_cast<std::size_t>(shape[0]) : 1;
  std::vector<double> y(rows * size, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    count(attrs, grams, x.subspan(r * width, width), std::span(y).subspan(r * size, size));
  }
  // Of a column, by what n-gram of the pool it was named first.
  std::vector<double> weights(size, 1);
  const auto& given = attrs.numbers("weights");
  for (std::size_t i = given.size(); i-- > 0;) {
    weights[static_cast<std::size_t>(attrs.integers("indexes")[i])] = given[i];
  }
  const std::string& mode = attrs.text("mode");
  for (std::size_t i = 0; i < y.size() && mode != "TF"; ++i) {
    y[i] = (mode == "IDF" && y[i] > 0 ? 1 : y[i]) * weights[i % size];
  }
  shape.back() = static_cast<std::int64_t>(size);
  return from_doubles(DataType::f32, std::move(shape), y);
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& pool = call.node.attrs.tensor("pool");
  if (x.dtype() == DataType::string) return {vectors(call, x.strings(), pool.strings())};
  const std::vector<std::int64_t> wide = x.ints();
  const std::vector<std::int64_t> wide_pool = pool.ints();
  return {
      vectors(call, std::span<const std::int64_t>(wide), std::span<const std::int64_t>(wide_pool))};
}

}  // namespace

const Kernel host_tfidf{nullptr, run};

}  // namespace concord::host
