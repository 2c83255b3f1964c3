#include "graph/extent_collector.h"
#include "graph/ops/inference.h"

namespace concord::graph {

void ExtentCollector::recurrent(std::int64_t gates) {
  const SymShape* x = ranked(0, 3);
  const bool batch_first = node_.attrs.integer("layout", 0) != 0;
  const Dim hidden(node_.attrs.integer("hidden_size"));
  const Dim directions(node_.attrs.text("direction") == "bidirectional" ? 2 : 1);
  const Dim rows = Dim(gates) * hidden;
  const auto expect = [&](std::size_t i, const char* name, const SymShape& wanted) {
    const SymShape* found = ranked(i, wanted.size());
    for (std::size_t d = 0; found != nullptr && d < wanted.size(); ++d) {
      add(Kind::equal, (*found)[d], wanted[d],
          "axis " + std::to_string(d) + " of " + name + " and of " + concord::to_string(wanted));
    }
  };
  if (const SymShape* w = ranked(1, 3)) {
    expect(1, "w", {directions, rows, x != nullptr ? (*x)[2] : (*w)[2]});
  }
  expect(2, "r", {directions, rows, hidden});
  expect(3, "b", {directions, Dim(2) * rows});
  if (node_.op == OpKind::lstm) expect(7, "p", {directions, Dim(3) * hidden});
  if (x == nullptr) return;
  const Dim& batch = (*x)[batch_first ? 0 : 1];
  expect(4, "the sequence lengths", {batch});
  const SymShape state =
      batch_first ? SymShape{batch, directions, hidden} : SymShape{directions, batch, hidden};
  expect(5, "the initial state", state);
  if (node_.op == OpKind::lstm) expect(6, "the initial cell", state);
}

void ExtentCollector::rotary() {
  const SymShape* x = ranked(0, 4);
  const SymShape* table = shape_(1);
  if (x == nullptr || table == nullptr) return;
  if (table->size() < 2) mismatch("tables of rank 2 or 3", concord::to_string(*table));
  same_shape(1, 2, " of the tables of cosines and of sines");
  const Heads h = heads(*x, "layout");
  const std::int64_t given = node_.attrs.integer("rotary_dim", 0);
  if (given < 0) mismatch("a rotary_dim of 0 or more", std::to_string(given));
  const Dim rotated = given == 0 ? h.depth : Dim(given);
  add(Kind::at_most, rotated, h.depth, "rotary_dim and the depth of x");
  add(Kind::at_most, Dim::floor_div(rotated, 2), table->back(),
      "half of rotary_dim and the tables");
  const SymShape* positions = shape_(3);
  const SymShape& rows = positions != nullptr ? *positions : *table;
  const std::size_t inner = positions != nullptr ? 1 : 2;
  if (rows.size() < inner) mismatch("positions of rank 1 or 2", concord::to_string(rows));
  if (node_.has_input(3) && positions == nullptr) return;
  add(Kind::equal, rows[rows.size() - inner], h.seq, "the positions and the length of x");
  if (rows.size() > inner) {
    add(Kind::fits, rows[rows.size() - inner - 1], h.batch, "the positions and the batch of x");
  }
}

ExtentCollector::Heads ExtentCollector::heads(const SymShape& shape,
                                              const char* layout_name) const {
  const std::string layout = node_.attrs.text(layout_name, "bhsd");
  const auto at = [&](char letter) {
    const std::size_t place = layout.find(letter);
    return place < shape.size() ? shape[place] : Dim(1);
  };
  return {at('b'), at('h'), at('s'), at('d')};
}

void ExtentCollector::attention() {
  const SymShape* q_shape = ranked(0, 4);
  const SymShape* k_shape = ranked(1, 4);
  const SymShape* v_shape = ranked(2, 4);
  if (q_shape == nullptr || k_shape == nullptr || v_shape == nullptr) return;
  const Heads q = heads(*q_shape, "q_layout");
  const Heads k = heads(*k_shape, "k_layout");
  const Heads v = heads(*v_shape, "v_layout");
  add(Kind::broadcast, q.batch, k.batch, "the batches of q and k");
  add(Kind::broadcast, k.batch, v.batch, "the batches of k and v");
  add(Kind::equal, q.depth, k.depth, "the depths of q and k");
  add(Kind::equal, k.heads, v.heads, "the heads of k and v");
  add(Kind::equal, k.seq, v.seq, "the lengths of k and v");
  if (const SymShape* mask = shape_(3)) {
    const SymShape wanted{Dim::broadcast(q.batch, k.batch), q.heads, q.seq, k.seq};
    if (mask->size() > wanted.size()) {
      mismatch("a mask of rank 4 or less", concord::to_string(*mask));
    }
    aligned(mask, &wanted, Kind::fits);
  }
  if (const SymShape* lengths = ranked(4, 1)) {
    add(Kind::equal, lengths->front(), Dim::broadcast(q.batch, k.batch),
        "the key lengths and the batch");
  }
}

}  // namespace concord::graph
