// Tree ensembles of ai.onnx.ml, in their old form (lists by tree and node number) and in that of
// opset 5 (lists by position), as the core operator tree_ensemble.
#include <algorithm>
#include <cmath>
#include <map>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

enum Mode : std::uint8_t { at_most, below, at_least, above, equal, unequal, leaf, member = 6 };

// The node attributes of the core operator.
struct Trees {
  Integers roots;
  Integers modes;
  Integers features;
  Numbers values;
  Integers missing;
  Integers firsts;
  Integers seconds;
  Integers weight_targets;
  Numbers weights;

  std::size_t add(std::int64_t mode, std::int64_t feature, double value, std::int64_t if_missing,
                  std::int64_t first, std::int64_t second) {
    modes.push_back(mode);
    features.push_back(feature);
    values.push_back(value);
    missing.push_back(if_missing);
    firsts.push_back(first);
    seconds.push_back(second);
    return modes.size() - 1;
  }
};

ValueId emit_trees(Conversion& c, Trees trees, std::int64_t targets, const std::string& aggregate,
                   Numbers base, DataType to) {
  return c.emit(OpKind::tree_ensemble, {c.input(0)},
                {{"targets", targets},
                 {"aggregate", aggregate},
                 {"base", std::move(base)},
                 {"to", to},
                 {"roots", std::move(trees.roots)},
                 {"modes", std::move(trees.modes)},
                 {"features", std::move(trees.features)},
                 {"values", std::move(trees.values)},
                 {"missing", std::move(trees.missing)},
                 {"firsts", std::move(trees.firsts)},
                 {"seconds", std::move(trees.seconds)},
                 {"weight_targets", std::move(trees.weight_targets)},
                 {"weights", std::move(trees.weights)}});
}

Integers required(Conversion& c, std::string_view name, std::optional<std::size_t> length = {}) {
  auto list = c.integers(name);
  if (!list) c.invalid("attribute '" + std::string(name) + "' is missing");
  if (length && list->size() != *length) {
    c.invalid("attribute '" + std::string(name) + "' has " + std::to_string(list->size()) +
              " entries, expected " + std::to_string(*length));
  }
  return *std::move(list);
}

Numbers doubles_of(const Tensor& tensor) {
  Numbers numbers;
  for (std::int64_t i = 0; i < tensor.count(); ++i) numbers.push_back(tensor.at_double(i));
  return numbers;
}

std::optional<Numbers> numbers_or_tensor(Conversion& c, const std::string& name) {
  if (const auto tensor = c.tensor(name + "_as_tensor")) return doubles_of(*tensor);
  return c.numbers(name);
}

std::int64_t mode_of(Conversion& c, const std::string& name) {
  static const std::map<std::string_view, Mode> modes = {
      {"BRANCH_LEQ", at_most}, {"BRANCH_LT", below}, {"BRANCH_GTE", at_least},
      {"BRANCH_GT", above},    {"BRANCH_EQ", equal}, {"BRANCH_NEQ", unequal},
      {"LEAF", leaf}};
  const auto it = modes.find(name);
  if (it == modes.end()) c.invalid("'" + name + "' is no mode of a node");
  return it->second;
}

// The old form. `prefix` is of the leaves' attributes: target or class.
Trees numbered_trees(Conversion& c, const std::string& prefix) {
  c.ignore({"nodes_hitrates", "nodes_hitrates_as_tensor"});
  const Integers tree_ids = required(c, "nodes_treeids");
  const std::size_t count = tree_ids.size();
  const Integers node_ids = required(c, "nodes_nodeids", count);
  const Integers features = required(c, "nodes_featureids", count);
  const Integers firsts = required(c, "nodes_truenodeids", count);
  const Integers seconds = required(c, "nodes_falsenodeids", count);
  const Texts modes = c.texts("nodes_modes").value_or(Texts{});
  const Numbers values = numbers_or_tensor(c, "nodes_values").value_or(Numbers{});
  Integers missing = c.integers("nodes_missing_value_tracks_true").value_or(Integers{});
  missing.resize(count, 0);
  if (modes.size() != count || values.size() != count) {
    c.invalid("it has " + std::to_string(count) + " nodes, " + std::to_string(modes.size()) +
              " modes and " + std::to_string(values.size()) + " values");
  }
  using Id = std::pair<std::int64_t, std::int64_t>;
  std::map<Id, std::int64_t> place;
  for (std::size_t i = 0; i < count; ++i) {
    place[{tree_ids[i], node_ids[i]}] = static_cast<std::int64_t>(i);
  }
  const auto find = [&](Id id) {
    const auto it = place.find(id);
    if (it != place.end()) return it->second;
    c.invalid("tree " + std::to_string(id.first) + " has no node " + std::to_string(id.second));
  };
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, double>>> leaves;
  const Integers weight_trees = required(c, prefix + "_treeids");
  const Integers weight_nodes = required(c, prefix + "_nodeids", weight_trees.size());
  const Integers targets = required(c, prefix + "_ids", weight_trees.size());
  const Numbers weights = numbers_or_tensor(c, prefix + "_weights").value_or(Numbers{});
  if (weights.size() != weight_trees.size()) c.invalid("its leaves lack weights");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    leaves[find({weight_trees[i], weight_nodes[i]})].emplace_back(targets[i], weights[i]);
  }
  Trees trees;
  std::vector<bool> has_parent(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t mode = mode_of(c, modes[i]);
    if (mode == leaf) {
      const auto begin = static_cast<std::int64_t>(trees.weights.size());
      for (const auto& [target, weight] : leaves[static_cast<std::int64_t>(i)]) {
        trees.weight_targets.push_back(target);
        trees.weights.push_back(weight);
      }
      trees.add(leaf, 0, 0, 0, begin, static_cast<std::int64_t>(trees.weights.size()));
      continue;
    }
    const std::int64_t first = find({tree_ids[i], firsts[i]});
    const std::int64_t second = find({tree_ids[i], seconds[i]});
    has_parent[static_cast<std::size_t>(first)] = true;
    has_parent[static_cast<std::size_t>(second)] = true;
    trees.add(mode, features[i], values[i], missing[i], first, second);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!has_parent[i]) trees.roots.push_back(static_cast<std::int64_t>(i));
  }
  return trees;
}

DataType result_type(Conversion& c) {
  return c.dtype(c.input(0)) == DataType::f64 ? DataType::f64 : DataType::f32;
}

void regressor(Conversion& c) {
  const std::string aggregate = lower_case(c.text("aggregate_function", "SUM"));
  const std::int64_t targets = c.integer("n_targets", 1);
  const Numbers base = numbers_or_tensor(c, "base_values").value_or(Numbers{});
  const ValueId y =
      emit_trees(c, numbered_trees(c, "target"), targets, aggregate, base, DataType::f32);
  c.output(0, post_transform(c, c.text("post_transform", "NONE"), y));
}

// Weights for one class of two: the score of the other follows from it.
ValueId with_other_class(Conversion& c, ValueId score, bool is_probability,
                         const std::string& transform) {
  const DataType type = c.dtype(score);
  if (is_probability) {
    const ValueId rest = c.binary(BinaryFn::sub, c.make_scalar(1, type), score);
    return c.concat({rest, score}, 1);
  }
  const ValueId both = c.concat({c.unary(UnaryFn::neg, score), score}, 1);
  return transform == "LOGISTIC" ? c.unary(UnaryFn::sigmoid, both) : both;
}

void classifier(Conversion& c) {
  const auto labels = class_labels(c);
  if (!labels) c.invalid("it has no class labels");
  const std::string transform = c.text("post_transform", "NONE");
  Trees trees = numbered_trees(c, "class");
  Numbers base = numbers_or_tensor(c, "base_values").value_or(Numbers{});
  Integers& targets = trees.weight_targets;
  const bool one_of_two =
      labels->count() == 2 && !targets.empty() &&
      std::all_of(targets.begin(), targets.end(), [&](auto t) { return t == targets.front(); });
  const ValueId table = c.make_constant(*labels);
  if (!one_of_two) {
    const ValueId y =
        emit_trees(c, std::move(trees), labels->count(), "sum", std::move(base), result_type(c));
    const ValueId best = c.emit(OpKind::arg_reduce, {y},
                                {{"fn", std::string("argmax")},
                                 {"axis", std::int64_t{1}},
                                 {"keepdims", std::int64_t{0}},
                                 {"select_last", std::int64_t{0}}});
    c.output(0, c.gather(table, best, 0));
    return c.output(1, post_transform(c, transform, c.cast(y, DataType::f32)));
  }
  const bool is_probability = std::all_of(trees.weights.begin(), trees.weights.end(),
                                          [](double weight) { return weight >= 0; });
  if (base.size() == 2) base.erase(base.begin());
  std::fill(targets.begin(), targets.end(), 0);
  const ValueId y = emit_trees(c, std::move(trees), 1, "sum", std::move(base), result_type(c));
  const ValueId second = c.binary(BinaryFn::greater, y, is_probability ? 0.5 : 0.0);
  const ValueId flat = c.reshape(c.cast(second, DataType::i64), {c.known_shape(y).front()});
  c.output(0, c.gather(table, flat, 0));
  c.output(1, with_other_class(c, c.cast(y, DataType::f32), is_probability, transform));
}

// Opset 5. A test for membership becomes a chain of tests for equality with one result.
class Positions {
 public:
  explicit Positions(Conversion& c) : c_(c) {
    c.ignore({"nodes_hitrates"});
    firsts_ = required(c, "nodes_truenodeids");
    const std::size_t count = firsts_.size();
    seconds_ = required(c, "nodes_falsenodeids", count);
    first_is_leaf_ = required(c, "nodes_trueleafs", count);
    second_is_leaf_ = required(c, "nodes_falseleafs", count);
    features_ = required(c, "nodes_featureids", count);
    const auto modes = c.tensor("nodes_modes");
    const auto splits = c.tensor("nodes_splits");
    const auto weights = c.tensor("leaf_weights");
    if (!modes || !splits || !weights) c.invalid("it lacks nodes_modes, _splits or leaf_weights");
    modes_ = modes->ints();
    splits_ = doubles_of(*splits);
    if (modes_.size() != count || splits_.size() != count) {
      c.invalid("it has " + std::to_string(count) + " nodes, " + std::to_string(modes_.size()) +
                " modes and " + std::to_string(splits_.size()) + " splits");
    }
    trees_.weights = doubles_of(*weights);
    trees_.weight_targets = required(c, "leaf_targetids", trees_.weights.size());
    missing_ = c.integers("nodes_missing_value_tracks_true").value_or(Integers{});
    missing_.resize(count, 0);
    if (const auto members = c.tensor("membership_values")) members_ = doubles_of(*members);
    weight_type_ = weights->dtype();
  }

  // The type of what the leaves weigh, and of the result.
  DataType weight_type() const { return weight_type_; }

  Trees trees() {
    const std::size_t count = firsts_.size();
    // Nodes, then leaves, then what the chains add.
    for (std::size_t i = 0; i < count; ++i) {
      trees_.add(modes_[i], features_[i], splits_[i], missing_[i],
                 branch(firsts_[i], first_is_leaf_[i]), branch(seconds_[i], second_is_leaf_[i]));
    }
    for (std::size_t i = 0; i < trees_.weights.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      trees_.add(leaf, 0, 0, 0, at, at + 1);
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (modes_[i] == member) next = chain(i, next);
    }
    trees_.roots = required(c_, "tree_roots");
    return std::move(trees_);
  }

 private:
  std::int64_t branch(std::int64_t to, std::int64_t is_leaf) const {
    const std::size_t count = is_leaf != 0 ? trees_.weights.size() : firsts_.size();
    if (to < 0 || to >= static_cast<std::int64_t>(count)) {
      c_.invalid("a branch to " + std::to_string(to) + " of " + std::to_string(count));
    }
    return is_leaf != 0 ? to + static_cast<std::int64_t>(firsts_.size()) : to;
  }

  // Members from `next` up to a NaN; returns what comes behind it.
  std::size_t chain(std::size_t node, std::size_t next) {
    const std::int64_t hit = trees_.firsts[node];
    const std::int64_t miss = trees_.seconds[node];
    trees_.modes[node] = equal;
    trees_.values[node] = std::nan("");  // a set without members: equal to nothing
    bool is_first = true;
    std::size_t last = node;
    for (; next < members_.size() && !std::isnan(members_[next]); ++next) {
      if (!is_first) {
        const std::size_t more = trees_.add(equal, features_[node], 0, missing_[node], hit, miss);
        trees_.seconds[last] = static_cast<std::int64_t>(more);
        last = more;
      }
      trees_.values[last] = members_[next];
      is_first = false;
    }
    return next + 1;
  }

  Conversion& c_;
  Integers firsts_, seconds_, first_is_leaf_, second_is_leaf_, features_, modes_, missing_;
  Numbers splits_, members_;
  DataType weight_type_ = DataType::undefined;
  Trees trees_;
};

void ensemble(Conversion& c) {
  static constexpr const char* kAggregates[] = {"average", "sum", "min", "max"};
  static constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};
  const std::int64_t aggregate = c.integer("aggregate_function", 1);
  const std::int64_t transform = c.integer("post_transform", 0);
  if (aggregate < 0 || aggregate > 3) {
    c.invalid("attribute 'aggregate_function' is " + std::to_string(aggregate));
  }
  if (transform < 0 || transform > 4) {
    c.invalid("attribute 'post_transform' is " + std::to_string(transform));
  }
  Positions positions(c);
  const DataType type = positions.weight_type();
  const ValueId y =
      emit_trees(c, positions.trees(), c.integer("n_targets", 1), kAggregates[aggregate], {}, type);
  c.output(0, post_transform(c, kTransforms[transform], y));
}

constexpr Converter kConverters[] = {
    {kMl, "TreeEnsemble", 5, kLatest, ensemble},
    {kMl, "TreeEnsembleClassifier", 1, kLatest, classifier},
    {kMl, "TreeEnsembleRegressor", 1, kLatest, regressor},
};

}  // namespace

std::span<const Converter> ml_trees_converters() {
  return kConverters;
}

}  // namespace concord::importer
