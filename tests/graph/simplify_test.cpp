#include <limits>

#include "graph/error.h"
#include "tests/graph/builder.h"
#include "tests/graph/graph_case.h"

namespace concord::graph {
namespace {

const Dim n = Dim::symbol("n");
const Dim s = Dim::symbol("s");

Graph check(const Builder& b, const std::vector<Tensor>& inputs) {
  verify(b.graph);
  PassOptions plain = folding();
  plain.fusion = false;
  Graph simple = optimise(b.graph, plain);
  verify(simple);
  expect_same(b.graph, simple, inputs);
  const Graph fused = optimise(b.graph, folding());
  verify(fused);
  expect_same(b.graph, fused, inputs);
  return simple;
}

TEST(Simplify, RemovesWhatChangesNothing) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, s, 8});
  ValueId y = b.unary("identity", x);
  y = b.cast(y, DataType::f32);
  y = b.transpose(b.transpose(y, {0, 2, 1}), {0, 2, 1});
  y = b.reshape_to(y, b.shape_of(x));
  y = b.mul(b.scalar(1), y);
  y = b.binary("div", b.binary("sub", y, b.scalar(0)), b.scalar(1));
  y = b.slice(y, 0, std::numeric_limits<std::int64_t>::max(), 1);
  y = b.concat({y}, 0);
  y = b.broadcast(y, b.ints({1, 1, 8}));
  y = b.unary("neg", b.unary("neg", y));
  y = b.op(OpKind::tile, {y, b.ints({1, 1, 1})});
  b.output(b.unary("exp", y), "y");
  EXPECT_EQ(check(b, {Builder::random({2, 3, 8})}).order().size(), 1u);
}

TEST(Simplify, KeepsNamesOfOutputsAndInputsThatAreOutputs) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  const ValueId e = b.unary("exp", x);
  b.output(b.unary("identity", x), "copy_of_input");
  b.output(b.unary("identity", e), "first");
  b.output(b.unary("identity", e), "second");
  b.output(b.unary("sin", e), "third");
  const Graph simple = check(b, {Builder::random({2, 8})});
  EXPECT_EQ(count(simple, "unary:exp"), 1);
}

TEST(Simplify, KeepsWhatOnlyLooksLikeNothing) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  b.output(b.slice(x, -1, std::numeric_limits<std::int64_t>::min(), 1, -1), "reversed");
  b.output(b.mul(x, b.weights({3, 1, 1})), "product");
  b.output(b.mul(x, b.constant(Tensor::of<float>({1, 1, 1}, std::vector<float>{1}))), "wider");
  b.output(b.cast(b.cast(x, DataType::i32), DataType::f32), "truncated");
  EXPECT_EQ(check(b, {Builder::random({2, 8})}).order().size(), 5u);
}

TEST(Simplify, DecidesBranches) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  const auto branch = [](const char* fn) {
    Builder inner;
    const ValueId y = inner.input("y", DataType::undefined, {});
    Node node;
    node.op = OpKind::unary;
    node.inputs = {y};
    node.attrs = Attributes{{"fn", std::string(fn)}, {"alpha", 0.0}, {"beta", 0.0}};
    node.outputs = {inner.graph.add_value("z", DataType::undefined)};
    inner.graph.outputs = {node.outputs[0], y};
    inner.graph.add_node(std::move(node));
    return inner.graph;
  };
  Node node;
  node.op = OpKind::if_then_else;
  const ValueId rank = b.op(OpKind::shape_of, {b.shape_of(x)},
                            {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  node.inputs = {b.reshape(b.binary("equal", rank, b.ints({2})), {}), x};
  node.bodies = {branch("exp"), branch("sin")};
  node.outputs = {b.graph.add_value("out", DataType::undefined),
                  b.graph.add_value("same", DataType::undefined)};
  const std::vector<ValueId> out = node.outputs;
  infer(b.graph, b.graph.add_node(std::move(node)));
  b.output(b.unary("neg", out[0]), "y");
  b.output(out[1]);
  const Graph simple = check(b, {Builder::random({2, 8})});
  EXPECT_EQ(count(simple, "if_then_else"), 0);
  EXPECT_EQ(count(simple, "unary:exp"), 1);
}

TEST(Simplify, WritesGatheredMasksAsViews) {
  for (const bool nd : {true, false}) {
    Builder b;
    const ValueId mask = b.input("mask", DataType::boolean, {n, s});
    const ValueId q = b.input("q", DataType::f32, {n, Dim::symbol("t")});
    const ValueId zero = b.integer(0);
    const ValueId one = b.integer(1);
    const ValueId rows =
        b.reshape(b.range(zero, b.gather(b.shape_of(mask), zero), one), {-1, 1, 1, 1});
    const ValueId columns =
        b.reshape(b.range(zero, b.gather(b.shape_of(mask), one), one), {1, 1, 1, -1});
    ValueId y;
    if (nd) {
      const ValueId shape = b.shape_of(b.binary("max", rows, columns));
      const ValueId wide = b.concat({shape, b.ints({1})}, 0);
      y = b.op(OpKind::gather_nd,
               {mask, b.concat({b.reshape_to(b.broadcast(rows, shape), wide),
                                b.reshape_to(b.broadcast(columns, shape), wide)},
                               4)},
               {{"batch_dims", std::int64_t{0}}});
    } else {
      const ValueId width = b.slice(b.shape_of(mask), 1, 2, 0);
      y = b.gather(b.reshape(mask, {-1}), b.add(columns, b.mul(rows, width)));
    }
    b.output(b.binary("logical_and", y, b.binary("greater_equal", columns, zero)), "y");
    b.output(q, "q_out");
    Tensor flags = Tensor::zeros(DataType::boolean, {2, 5});
    for (std::size_t i = 0; i < 10; i += 3) flags.as_mutable<bool>()[i] = true;
    const Graph simple = check(b, {flags, Builder::random({2, 3})});
    EXPECT_EQ(count(simple, "gather_nd") + count(simple, "gather"), 0) << dump(simple);
    EXPECT_EQ(simple.order().size(), 1u) << dump(simple);
  }
}

TEST(Fold, KeepsToItsBudget) {
  for (const std::int64_t budget : {1000000, 1000}) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 100});
    const ValueId w = b.weights({100, 100});
    b.output(b.add(b.matmul(x, b.unary("exp", w)), b.matmul(x, w)), "y");
    PassOptions options = folding();
    options.fold_budget = budget;
    const Graph graph = optimise(b.graph, options);
    EXPECT_EQ(count(graph, "unary:exp"), budget > 100000 ? 0 : 1);
    expect_same(b.graph, graph, {Builder::random({2, 100})});
  }
}

TEST(Fold, LeavesTransposedWeightsToTheProduct) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 100});
  b.output(b.matmul(x, b.transpose(b.weights({60, 100}), {1, 0})), "y");
  const Graph graph = optimise(b.graph, folding());
  EXPECT_EQ(graph.value(graph.node(graph.order()[0]).inputs[1]).constant->shape(),
            (Shape{60, 100}));
  expect_same(b.graph, graph, {Builder::random({2, 100})});
}

TEST(Fold, EvaluatesShapesThatARunBinds) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, s});
  const ValueId length = b.gather(b.shape_of(x), b.integer(1));
  b.output(b.add(b.range(b.integer(0), b.integer(4), b.integer(1)), length), "positions");
  b.output(b.mul(length, b.integer(2)), "twice");
  b.output(b.unary("exp", x), "y");
  const Graph graph = optimise(b.graph, folding());
  EXPECT_EQ(count(graph, "shape_of") + count(graph, "gather"), 0);
  expect_same(b.graph, graph, {Builder::random({2, 7})});
}

TEST(Passes, RefuseUnknownNames) {
  Builder b;
  b.output(b.unary("exp", b.input("x", DataType::f32, {n})));
  PassOptions options;
  options.disabled = {"fuse_everything"};
  EXPECT_THROW(optimise(b.graph, options), Error);
}

TEST(Duplicates, AreComputedOnce) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  const ValueId first = b.mul(b.unary("exp", x), b.scalar(3));
  const ValueId second = b.mul(b.unary("exp", x), b.scalar(3));
  b.output(b.add(b.unary("sin", first), second), "y");
  b.output(b.unary("exp", x), "kept_name");
  const Graph graph = check(b, {Builder::random({2, 8})});
  EXPECT_EQ(count(graph, "binary:mul"), 1);
}

// Views, transposes, slices, products and elementwise work in any order: whatever sinks, joins and
// vanishes, the result is the same.
TEST(Simplify, AgreesOnRandomViews) {
  std::uint64_t state = 11;
  const auto random = [&](std::size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % limit);
  };
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Builder b;
    const bool symbolic = round % 2 == 0;
    const ValueId x =
        b.input("x", DataType::f32, symbolic ? SymShape{n, s, 12} : SymShape{2, 6, 12});
    ValueId y = x;
    std::vector<ValueId> pool{x};
    for (int step = 0; step < 14; ++step) {
      const SymShape shape = b.shape(y);
      const std::size_t rank = shape.size();
      switch (random(9)) {
        case 0:
        case 1: {  // transpose
          std::vector<std::int64_t> perm(rank);
          for (std::size_t k = 0; k < rank; ++k) perm[k] = static_cast<std::int64_t>(k);
          for (std::size_t k = rank; k > 1; --k) std::swap(perm[k - 1], perm[random(k)]);
          y = b.transpose(y, perm);
          break;
        }
        case 2: {  // split an axis
          const std::size_t at = random(rank);
          const auto size = shape[at].constant();
          if (!size || rank > 5) break;
          for (const std::int64_t part : {2, 3}) {
            if (*size % part != 0 || *size == part) continue;
            SymShape target = shape;
            target[at] = part;
            target.insert(target.begin() + static_cast<std::ptrdiff_t>(at) + 1, *size / part);
            y = b.op(OpKind::reshape, {y},
                     {{"shape", std::move(target)}, {"allow_zero", std::int64_t{1}}});
            break;
          }
          break;
        }
        case 3: {  // join two axes, or put one of extent 1 between
          const std::size_t at = random(rank);
          SymShape target = shape;
          if (at + 1 < rank && random(2) == 0) {
            target[at] = shape[at] * shape[at + 1];
            target.erase(target.begin() + static_cast<std::ptrdiff_t>(at) + 1);
          } else if (rank < 6) {
            target.insert(target.begin() + static_cast<std::ptrdiff_t>(at), Dim(1));
          }
          y = b.op(OpKind::reshape, {y},
                   {{"shape", std::move(target)}, {"allow_zero", std::int64_t{1}}});
          break;
        }
        case 4: {  // cut
          const std::size_t at = random(rank);
          const auto size = shape[at].constant();
          if (!size || *size < 4) break;
          y = b.slice(y, 1, *size, static_cast<std::int64_t>(at));
          break;
        }
        case 5: {  // product with a weight
          const auto k = shape.back().constant();
          if (!k || rank < 2) break;
          y = b.matmul(y, b.weights({*k, 12}, static_cast<std::uint64_t>(step)));
          if (random(2) == 0) y = b.add(y, b.weights({12}, 5));
          break;
        }
        case 6:
          y = b.unary("tanh", y);
          break;
        case 7:
          y = b.mul(y, b.scalar(0.5F));
          break;
        default:
          pool.push_back(y);
          for (const ValueId other : pool) {
            if (b.shape(other) == shape && other != y) y = b.add(y, other);
          }
          break;
      }
    }
    b.output(b.unary("sin", y), "y");
    b.output(b.unary("neg", pool[random(pool.size())]), "z");
    check(b, {Builder::random({2, 6, 12}, static_cast<std::uint64_t>(round))});
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace concord::graph
