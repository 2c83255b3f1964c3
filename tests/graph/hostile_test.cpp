#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "graph/elementwise_program.h"
#include "graph/error.h"
#include "graph/passes.h"
#include "tests/graph/builder.h"

// Nodes that no exporter writes: whatever the operator, its inputs and its attributes, inference
// either infers or throws an Error, and so do the passes on what was inferred.
namespace concord::graph {
namespace {

class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : state_(seed * 77777 + 1) {
    for (const DataType type : {DataType::f32, DataType::i64, DataType::boolean, DataType::f16,
                                DataType::i32, DataType::u8, DataType::string}) {
      pool_.push_back(b_.input("x" + std::to_string(pool_.size()), type, shape()));
    }
    Value unknown;
    unknown.name = "unknown";
    unknown.dtype = DataType::f32;
    b_.graph.inputs.push_back(b_.graph.add_value(unknown));
    pool_.push_back(b_.graph.inputs.back());
    pool_.push_back(b_.weights({2, 3}));
    pool_.push_back(b_.weights({3, 3, 2, 2}));
    for (int i = 0; i < 6; ++i) {
      std::vector<std::int64_t> values;
      for (std::size_t k = 0; k < pick(5); ++k) values.push_back(integer());
      pool_.push_back(b_.ints(values));
    }
    pool_.push_back(b_.integer(integer()));
    pool_.push_back(b_.scalar(0.5F));
  }

  std::size_t pick(std::size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state_ >> 33) % limit);
  }

  std::int64_t integer() {
    constexpr std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min(),
                                         std::int64_t{1} << 31,
                                         std::int64_t{1} << 62,
                                         -1,
                                         0,
                                         1};
    if (pick(4) == 0) return extremes[pick(std::size(extremes))];
    return static_cast<std::int64_t>(pick(9)) - 3;
  }

  SymShape shape() {
    SymShape result;
    for (std::size_t k = 0; k < pick(5); ++k) {
      switch (pick(4)) {
        case 0:
          result.push_back(Dim::symbol("n"));
          break;
        case 1:
          result.push_back(Dim::symbol("s") + Dim::symbol("p"));
          break;
        default:
          result.emplace_back(static_cast<std::int64_t>(pick(4)));
          break;
      }
    }
    return result;
  }

  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values;
    for (std::size_t k = 0; k < pick(6); ++k) values.push_back(integer());
    return values;
  }

  template <std::size_t N>
  std::string word(const std::array<const char*, N>& words) {
    return words[pick(N)];
  }

  Attributes attributes(OpKind op) {
    Attributes a;
    for (const char* name : {"axis",
                             "keepdims",
                             "select_last",
                             "exclusive",
                             "reverse",
                             "block_size",
                             "saturate",
                             "k",
                             "batch_dims",
                             "groups",
                             "group",
                             "hidden_size",
                             "linear_before_reset",
                             "layout",
                             "ceil_mode",
                             "count_include_pad",
                             "allow_zero",
                             "noop_empty",
                             "rotary_dim",
                             "interleaved",
                             "states",
                             "scans",
                             "start",
                             "end",
                             "log",
                             "largest",
                             "sorted",
                             "upper",
                             "carried",
                             "size",
                             "n",
                             "bits",
                             "window",
                             "nan_to_zero",
                             "trans_a",
                             "trans_b",
                             "input_forget",
                             "q_heads",
                             "kv_heads",
                             "height",
                             "width",
                             "sampling_ratio",
                             "half_pixel",
                             "align_corners",
                             "pixels",
                             "inverse",
                             "onesided",
                             "center"}) {
      a.set(name, integer());
    }
    if (op == OpKind::trilu || op == OpKind::top_k) a.erase("k");
    if (op == OpKind::cum_sum && pick(2) == 0) a.erase("axis");
    for (const char* name : {"epsilon", "alpha", "beta", "scale", "softcap", "clip"}) {
      a.set(name, static_cast<double>(integer()));
    }
    a.set("to", std::array{DataType::f32, DataType::i64, DataType::boolean, DataType::u8,
                           DataType::string}[pick(5)]);
    a.set("direction", word(std::array{"forward", "bidirectional"}));
    a.set("auto_pad", word(std::array{"notset", "same_upper", "same_lower", "valid"}));
    a.set("mode", word(std::array{"constant", "linear", "nearest", "max"}));
    a.set("padding", word(std::array{"zeros", "border", "sideways"}));
    a.set("equation",
          word(std::array{"ij,jk->ik", "...i->i...", "a", "->", "ii->i", "i,,j->", "."}));
    a.set("reduction", word(std::array{"none", "add"}));
    a.set("keep_aspect", word(std::array{"stretch", "not_larger", "not_smaller"}));
    a.set("coordinates", std::string("half_pixel"));
    for (const char* name : {"q_layout", "k_layout", "v_layout", "y_layout"}) {
      a.set(name, word(std::array{"bhsd", "bshd", "bhds", "", "xx"}));
    }
    switch (op) {
      case OpKind::unary:
        a.set("fn", word(std::array{"exp", "abs", "neg", "is_nan", "nonsense", "sign", "square"}));
        break;
      case OpKind::binary:
        a.set("fn", word(std::array{"add", "mul", "div", "mod", "fmod", "pow", "less", "max", "sub",
                                    "equal", "logical_and", "shift_left", "nonsense"}));
        break;
      default:
        a.set("fn",
              word(std::array{"mean", "sum", "prod", "max", "argmax", "average", "nonsense"}));
        break;
    }
    for (const char* name : {"strides", "pads", "dilations", "kernel", "output_padding",
                             "output_shape", "axes", "perm", "steps", "directions"}) {
      if (pick(5) != 0) a.set(name, integers());
    }
    if (op == OpKind::resize && pick(2) == 0) a.set("scales", std::vector<double>{1e30, -1, 0.5});
    for (const char* name : {"shape", "starts", "ends", "sizes", "repeats", "depth", "length"}) {
      if (pick(3) != 0) continue;
      SymShape dims;
      for (const std::int64_t v : integers()) dims.emplace_back(v);
      if (pick(2) == 0) dims.push_back(Dim::symbol("n") * Dim(integer()) - Dim(integer()));
      a.set(name, std::move(dims));
    }
    if (op == OpKind::pad && pick(2) == 0) a.set("pads", SymShape{integer(), integer()});
    if (op == OpKind::dims) {
      a.set("shape", integers());
      a.set("values", SymShape{integer()});
    }
    a.set("value", Tensor::scalar<std::int64_t>(integer()));
    ElementwiseProgram program;
    program.inputs = static_cast<int>(pick(3));
    program.code.resize(pick(3));
    store(program, a);
    return a;
  }

  // Adds a random node; true if it was inferred.
  bool step() {
    Node node;
    node.op = static_cast<OpKind>(pick(kOpCount));
    // Mostly as many inputs and outputs as the operator wants.
    const OpSchema& wanted = schema(node.op);
    const auto between = [&](int least, int most) {
      const auto low = static_cast<std::size_t>(least);
      const auto high = static_cast<std::size_t>(most < 0 ? least + 3 : most);
      return pick(20) == 0 ? pick(6) : low + pick(high - low + 1);
    };
    const std::size_t n = between(wanted.min_inputs, wanted.max_inputs);
    for (std::size_t i = 0; i < n; ++i) {
      node.inputs.push_back(pick(20) == 0 ? ValueId{} : pool_[pick(pool_.size())]);
    }
    node.attrs = attributes(node.op);
    const std::size_t outputs = between(wanted.min_outputs, wanted.max_outputs);
    for (std::size_t o = 0; o < outputs; ++o) {
      node.outputs.push_back(b_.graph.add_value({}, DataType::undefined));
    }
    const std::vector<ValueId> made = node.outputs;
    const NodeId id = b_.graph.add_node(std::move(node));
    try {
      infer(b_.graph, id);
    } catch (const Error&) {
      b_.graph.remove_node(id);
      return false;
    }
    for (const ValueId value : made) {
      if (b_.graph.value(value).dtype == DataType::undefined) {
        b_.graph.remove_node(id);
        return false;
      }
    }
    pool_.insert(pool_.end(), made.begin(), made.end());
    return true;
  }

  void optimise_it() {
    for (int o = 0; o < 3; ++o) {
      const ValueId id = pool_[pick(pool_.size())];
      if (!b_.graph.is_output(id)) b_.graph.outputs.push_back(id);
    }
    try {
      verify(b_.graph);
      verify(optimise(b_.graph, {}));
    } catch (const Error& e) {
      // A graph that was inferred may still contradict itself where passes look closer, but passes
      // do not break its invariants.
      EXPECT_EQ(std::string(e.what()).find("a pass changes"), std::string::npos) << e.what();
      EXPECT_EQ(e.hint().find("breaks an invariant"), std::string::npos) << e.what();
    }
  }

 private:
  Builder b_;
  std::vector<ValueId> pool_;
  std::uint64_t state_;
};

TEST(Hostile, NodesAreInferredOrRefused) {
  int inferred = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Hostile h(seed);
    for (int i = 0; i < 60; ++i) inferred += h.step() ? 1 : 0;
    h.optimise_it();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(inferred, 1000);
}

}  // namespace
}  // namespace concord::graph
