#include <algorithm>
#include <chrono>
#include <memory>

#include "backends/registry.h"
#include "backends/session.h"
#include "graph/error.h"
#include "graph/schema.h"
#include "parity/ceilings.h"
#include "parity/random.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::OpKind;
using graph::ValueId;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Tensor random_tensor(DataType dtype, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  Random random(1);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (dtype == DataType::f32) {
      tensor.as_mutable<float>()[static_cast<std::size_t>(i)] =
          static_cast<float>(random.uniform()) - 0.5F;
    } else {
      tensor.as_mutable<std::int8_t>()[static_cast<std::size_t>(i)] =
          static_cast<std::int8_t>(static_cast<int>(random.next() % 255) - 127);
    }
  }
  return tensor;
}

// A graph with one input, made step by step.
class Builder {
 public:
  Builder(DataType dtype, const Shape& shape) {
    last_ = graph_->add_value("x", dtype, SymShape(shape.begin(), shape.end()));
    graph_->inputs.push_back(last_);
    input_ = random_tensor(dtype, shape);
  }
  void add(OpKind op, graph::Attributes attrs, std::vector<Tensor> weights = {}) {
    graph::Node node;
    node.op = op;
    node.name = "n" + std::to_string(graph_->node_count());
    node.inputs = {last_};
    for (Tensor& weight : weights) {
      node.inputs.push_back(graph_->add_constant(node.name + ".w", std::move(weight)));
    }
    node.attrs = std::move(attrs);
    last_ = graph_->add_value(node.name + ".y", DataType::undefined);
    node.outputs = {last_};
    graph::infer(*graph_, graph_->add_node(std::move(node)));
  }
  std::shared_ptr<const Graph> finish() {
    graph_->outputs = {last_};
    return graph_;
  }
  const Tensor& input() const { return input_; }

 private:
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  ValueId last_;
  Tensor input_;
};

// Least times over runs that together take about `budget_ms`, five at least.
struct Best {
  double run_ms = 1e30;
  std::vector<SessionStep> steps;  // each with its least time
};

Best best_of(Builder builder, const BackendSpec& spec, double budget_ms) {
  const std::shared_ptr<const Graph> graph = builder.finish();
  SessionOptions options;
  options.allow_fallback = false;
  options.log = [](const std::string&) {};
  Session session(graph, spec, options);
  const std::vector<Tensor> inputs = {builder.input()};
  session.run(inputs);  // compiles kernels, fills caches
  Best best;
  const auto begin = Clock::now();
  for (int run = 0; run < 5 || milliseconds_since(begin) < budget_ms; ++run) {
    const auto start = Clock::now();
    session.run(inputs);
    best.run_ms = std::min(best.run_ms, milliseconds_since(start));
    std::vector<SessionStep> steps;
    RunOptions timed;
    timed.steps = &steps;
    session.run(inputs, timed);
    if (best.steps.empty()) best.steps = steps;
    for (std::size_t i = 0; i < steps.size() && i < best.steps.size(); ++i) {
      best.steps[i].ms = std::min(best.steps[i].ms, steps[i].ms);
    }
    if (milliseconds_since(begin) > 4 * budget_ms + 1000) break;  // a slow device
  }
  return best;
}

const graph::Attributes kSoftmax = {
    {"axis", std::int64_t{1}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}};

const graph::Attributes kPlainProduct = {
    {"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}, {"alpha", 1.0}};

graph::Attributes unary(const char* fn) {
  return {{"fn", std::string(fn)}, {"alpha", 0.0}, {"beta", 0.0}};
}

class Calibrator {
 public:
  Calibrator(BackendSpec spec, const CalibrateOptions& options)
      : spec_(std::move(spec)), options_(options) {
    spec_.fusion = false;  // steps as they are written here
    spec_.options.precision = Precision::model;
  }

  Ceilings run() {
    const std::shared_ptr<Backend> backend = open_backend(spec_);
    ceilings_.backend = backend->name();
    ceilings_.device = backend->device();
    overhead();
    copies();
    reads();
    matmuls();
    return std::move(ceilings_);
  }

 private:
  // Chains of softmax over four values, which are nothing to compute and do not fuse.
  void overhead() {
    constexpr int kShort = 4;
    constexpr int kLong = 68;
    const auto chain = [&](int length) {
      Builder builder(DataType::f32, {1, 4});
      for (int i = 0; i < length; ++i) builder.add(OpKind::softmax, kSoftmax);
      return best_of(std::move(builder), spec_, share(0.05)).run_ms;
    };
    const double few = chain(kShort);
    const double many = chain(kLong);
    ceilings_.step_ms = std::max(0.0, (many - few) / (kLong - kShort));
    ceilings_.run_ms = std::max(0.0, few - kShort * ceilings_.step_ms);
  }

  // The middle one of three elementwise steps: it reads and writes what the plan itself laid out.
  void copies() {
    const bool gpu = ceilings_.device.type != "cpu";
    const std::int64_t largest = gpu ? std::int64_t{1} << 28 : std::int64_t{1} << 26;  // bytes
    double last_ms = 0;
    for (std::int64_t bytes = 1 << 15; bytes <= largest; bytes *= 4) {
      if (last_ms > share(0.1)) break;  // the next takes four times as long
      Builder builder(DataType::f32, {1, bytes / 4});
      for (const char* fn : {"neg", "abs", "neg"}) builder.add(OpKind::unary, unary(fn));
      const Best best = best_of(std::move(builder), spec_, share(0.03));
      last_ms = best.run_ms;
      const double ms = best.steps.size() == 3 && best.steps[1].ms > 0
                            ? best.steps[1].ms
                            : best.run_ms / 3;  // a device without time stamps
      ceilings_.copies.push_back(
          {2.0 * static_cast<double>(bytes), 2.0 * static_cast<double>(bytes) / (ms * 1e-3)});
    }
  }

  // A product with one row does little else than stream its weights.
  void reads() {
    constexpr std::int64_t kDepth = 1024;
    double last_ms = 0;
    const std::int64_t largest = std::int64_t{1} << 28;  // no cache holds much of it
    for (std::int64_t bytes = 1 << 16; bytes <= largest; bytes *= 4) {
      if (last_ms > share(0.1)) break;
      Tensor weights(DataType::f32, {kDepth, bytes / (4 * kDepth)});
      std::ranges::fill(weights.as_mutable<float>(), 0.5F);
      Builder builder(DataType::f32, {1, kDepth});
      builder.add(OpKind::matmul, kPlainProduct, {std::move(weights)});
      const Best best = best_of(std::move(builder), spec_, share(0.03));
      last_ms = best.run_ms;
      ceilings_.reads.push_back(
          {static_cast<double>(bytes), static_cast<double>(bytes) / (product_of(best).ms * 1e-3)});
    }
  }

  void matmuls() {
    struct Kind {
      Precision precision;
      bool integers;
    };
    constexpr Kind kKinds[] = {{Precision::f32, false},
                               {Precision::tf32, false},
                               {Precision::bf16, false},
                               {Precision::f16, false},
                               {Precision::model, true}};
    for (const Kind& kind : kKinds) {
      try {
        sweep(kind.precision, kind.integers);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::failed && ceilings_.matmuls.empty()) throw;
        // This device has no such precision.
      }
    }
  }

  std::vector<std::int64_t> sizes() const {
    const bool gpu = ceilings_.device.type != "cpu";
    if (!options_.sweep) {
      return gpu ? std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192}
                 : std::vector<std::int64_t>{128, 256, 512, 1024};
    }
    std::vector<std::int64_t> sizes;
    if (!gpu)
      return {8,   16,  24,  32,  48,  64,  96,  128,  160,  192,
              256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048};
    for (std::int64_t i = 1; i <= 64; ++i) {  // at each tile's edge, and just beyond
      sizes.push_back(128 * i);
      if (i <= 32) sizes.push_back(128 * i + 16);
    }
    return sizes;
  }

  void sweep(Precision precision, bool integers) {
    MatmulCeiling ceiling;
    double last_ms = 0;
    std::int64_t last = 0;
    for (const std::int64_t n : sizes()) {
      const double growth = last > 0 ? static_cast<double>(n) / static_cast<double>(last) : 1;
      if (last_ms * growth * growth * growth > share(0.15)) break;
      const SessionStep step = matmul(precision, integers, n, last_ms);
      const StepPrecision& used = step.info.precision;
      std::string name(to_string(used.operand));
      if (used.tf32) name = "tf32";
      if (integers) name = "int8";
      for (const MatmulCeiling& known : ceilings_.matmuls) {
        if (known.precision == name) return;  // asked for another, it computes as before
      }
      ceiling.precision = name;
      const double rate = 2.0 * static_cast<double>(n * n * n) / (step.ms * 1e-3);
      ceiling.peak = std::max(ceiling.peak, rate);
      ceiling.sizes.push_back({n, rate, step.info.kernel});
      last = n;
    }
    if (!ceiling.sizes.empty()) ceilings_.matmuls.push_back(std::move(ceiling));
  }

  SessionStep matmul(Precision precision, bool integers, std::int64_t n, double& run_ms) {
    const DataType dtype = integers ? DataType::i8 : DataType::f32;
    Builder builder(dtype, {n, n});
    graph::Attributes attrs;
    if (!integers) attrs = kPlainProduct;
    builder.add(integers ? OpKind::matmul_integer : OpKind::matmul, attrs,
                {random_tensor(dtype, {n, n})});
    BackendSpec spec = spec_;
    spec.options.precision = precision;
    const Best best = best_of(std::move(builder), spec, share(options_.sweep ? 0.02 : 0.05));
    run_ms = best.run_ms;
    return product_of(best);
  }

  // The first node's step, with the run's time on a device without time stamps.
  SessionStep product_of(const Best& best) const {
    for (const SessionStep& step : best.steps) {
      const bool product = step.info.node.index == 0 && step.backend == ceilings_.backend;
      if (!product) continue;
      SessionStep result = step;
      if (result.ms <= 0) result.ms = best.run_ms;
      return result;
    }
    throw Error(ErrorKind::unsupported, "the product ran elsewhere");
  }

  double share(double part) const { return options_.seconds * 1e3 * part; }

  BackendSpec spec_;
  CalibrateOptions options_;
  Ceilings ceilings_;
};

}  // namespace

Ceilings measure_ceilings(const BackendSpec& spec, const CalibrateOptions& options) {
  return Calibrator(spec, options).run();
}

}  // namespace concord::parity
