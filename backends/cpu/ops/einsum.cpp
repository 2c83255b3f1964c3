#include <algorithm>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

bool runs_here(DataType dtype) {
  return is_kernel_float(dtype) || dtype == DataType::f64 || dtype == DataType::i32 ||
         dtype == DataType::i64;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  if (!runs_here(dtype)) return type_reason(dtype);
  return std::nullopt;
}

// Letters of every operand and of the result; '.' stands for an ellipsis.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

Equation parse(const std::string& text) {
  Equation e;
  std::string current;
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  const auto compact = [](const std::string& part) {
    std::string letters;
    for (char c : part) {
      if (c == ' ' || (c == '.' && !letters.empty() && letters.back() == '.')) continue;
      letters += c;
    }
    return letters;
  };
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    e.operands.push_back(compact(left.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  if (arrow != std::string::npos) {
    e.result = compact(text.substr(arrow + 2));
    return e;
  }
  // The ellipsis, then the letters that occur once, sorted.
  std::string all;
  for (const std::string& operand : e.operands) all += operand;
  std::string once = all;
  std::sort(once.begin(), once.end());
  if (all.find('.') != std::string::npos) e.result = ".";
  for (char c : once) {
    if (c != '.' && std::count(all.begin(), all.end(), c) == 1) e.result += c;
  }
  return e;
}

// An axis of the sum's index space. Letters are their own labels, the axes of an ellipsis are
// counted from the last: −1, −2, …
using Label = int;

std::vector<Label> labels_of(const std::string& letters, int rank) {
  std::vector<Label> labels;
  const int dots = rank - static_cast<int>(std::count_if(letters.begin(), letters.end(),
                                                         [](char c) { return c != '.'; }));
  for (char c : letters) {
    if (c != '.') {
      labels.push_back(c);
    } else {
      for (int i = dots; i > 0; --i) labels.push_back(-i);
    }
  }
  return labels;
}

// An operand's axes by label: a letter that stands twice walks a diagonal.
struct Operand {
  Ref at;
  std::vector<Label> labels;  // distinct
  std::vector<std::int64_t> extents, strides;

  std::int64_t stride(Label label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) return 0;
    const auto i = static_cast<std::size_t>(found - labels.begin());
    return extents[i] == 1 ? 0 : strides[i];
  }
  bool has(Label label) const {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }
};

Operand operand_of(const View& view, const std::vector<Label>& labels) {
  Operand operand;
  operand.at = view.at;
  for (int i = 0; i < view.shape.rank(); ++i) {
    const Label label = labels[static_cast<std::size_t>(i)];
    const auto found = std::find(operand.labels.begin(), operand.labels.end(), label);
    if (found != operand.labels.end()) {
      operand.strides[static_cast<std::size_t>(found - operand.labels.begin())] += view.strides[i];
      continue;
    }
    operand.labels.push_back(label);
    operand.extents.push_back(view.shape[i]);
    operand.strides.push_back(view.strides[i]);
  }
  return operand;
}

struct Space {
  std::vector<Label> result, summed;  // in the result's order; the others
  std::vector<std::pair<Label, std::int64_t>> extents;

  std::int64_t extent(Label label) const {
    for (const auto& [l, n] : extents) {
      if (l == label) return n;
    }
    return 1;
  }
};

Space space_of(const std::vector<Operand>& operands, std::vector<Label> result) {
  Space space;
  space.result = std::move(result);
  for (const Operand& operand : operands) {
    for (std::size_t i = 0; i < operand.labels.size(); ++i) {
      const Label label = operand.labels[i];
      auto found = std::find_if(space.extents.begin(), space.extents.end(),
                                [&](const auto& e) { return e.first == label; });
      if (found == space.extents.end()) {
        space.extents.emplace_back(label, operand.extents[i]);
        if (std::find(space.result.begin(), space.result.end(), label) == space.result.end()) {
          space.summed.push_back(label);
        }
      } else if (found->second == 1) {
        found->second = operand.extents[i];
      }
    }
  }
  return space;
}

// --- plain loops, for every type and any number of operands

struct Loops {
  std::vector<std::int64_t> result, summed;             // extents
  std::vector<std::vector<std::int64_t>> outer, inner;  // [operand][axis] strides
  std::vector<Ref> at;
};

template <typename T, typename Sum>
void run_loops(const Frame& f, const Loops& loops, Ref out) {
  std::int64_t count = 1, terms = 1;
  for (std::int64_t n : loops.result) count *= n;
  for (std::int64_t n : loops.summed) terms *= n;
  const std::size_t operands = loops.at.size();
  const auto offset_of = [](std::int64_t index, const std::vector<std::int64_t>& extents,
                            const std::vector<std::int64_t>& strides) {
    std::int64_t offset = 0;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      offset += index % extents[axis] * strides[axis];
      index /= extents[axis];
    }
    return offset;
  };
  parallel_for(count, 1 + 2000 / (1 + terms), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Sum sum = 0;
      for (std::int64_t t = 0; t < terms; ++t) {
        Sum product = 1;
        for (std::size_t o = 0; o < operands; ++o) {
          const T* data = f.at<const T>(loops.at[o]);
          product *= static_cast<Sum>(data[offset_of(i, loops.result, loops.outer[o]) +
                                           offset_of(t, loops.summed, loops.inner[o])]);
        }
        sum += product;
      }
      f.at<T>(out)[i] = static_cast<T>(sum);
    }
  });
}

void plan_loops(Planner& p, const Space& space, const std::vector<Operand>& operands) {
  Loops loops;
  for (Label l : space.result) loops.result.push_back(space.extent(l));
  for (Label l : space.summed) loops.summed.push_back(space.extent(l));
  for (const Operand& operand : operands) {
    loops.at.push_back(operand.at);
    auto& outer = loops.outer.emplace_back();
    auto& inner = loops.inner.emplace_back();
    for (Label l : space.result) outer.push_back(operand.stride(l));
    for (Label l : space.summed) inner.push_back(operand.stride(l));
  }
  p.kernel("einsum loops");
  switch (p.dtype(0)) {
    case DataType::f64:
      return p.emit(
          [loops, out = p.out()](const Frame& f) { run_loops<double, double>(f, loops, out); });
    case DataType::i32:
      return p.emit([loops, out = p.out()](const Frame& f) {
        run_loops<std::uint32_t, std::uint32_t>(f, loops, out);
      });
    case DataType::i64:
      return p.emit([loops, out = p.out()](const Frame& f) {
        run_loops<std::uint64_t, std::uint64_t>(f, loops, out);
      });
    default:
      return p.emit(
          [loops, out = p.out_f32()](const Frame& f) { run_loops<float, double>(f, loops, out); });
  }
}

// --- a product of two as a batched matrix product

// Labels of one operand in the given order, [batch…, rows…, columns…] seen as [batch…, r, c]; a
// copy where its strides do not allow that. Broadcast batch axes have a stride of 0.
View matrices(Planner& p, const Space& space, const Operand& operand,
              const std::vector<Label>& batch, const std::vector<Label>& rows,
              const std::vector<Label>& columns) {
  Dims shape, strides, merged;
  for (Label l : batch) merged.push_back(space.extent(l));
  const auto append = [&](const std::vector<Label>& labels) {
    for (Label l : labels) {
      shape.push_back(space.extent(l));
      strides.push_back(operand.stride(l));
    }
  };
  append(batch);
  const int first = shape.rank();
  append(rows);
  const int middle = shape.rank();
  append(columns);
  merged.push_back(shape.product(first, middle));
  merged.push_back(shape.product(middle, shape.rank()));

  View view;
  view.at = operand.at;
  view.dtype = DataType::f32;
  view.shape = merged;
  // Rows and columns are merged apart: neither may flow into the other.
  const auto part = [&](int begin, int end, std::int64_t& stride) {
    Dims s, t;
    for (int i = begin; i < end; ++i) {
      s.push_back(shape[i]);
      t.push_back(strides[i]);
    }
    const auto one = reshape_strides(s, t, Dims{s.count()});
    if (one) stride = s.count() == 1 ? 1 : (*one)[0];
    return one.has_value();
  };
  std::int64_t row_stride = 1, column_stride = 1;
  const bool fits = part(first, middle, row_stride) && part(middle, shape.rank(), column_stride) &&
                    (row_stride == 1 || column_stride == 1) && row_stride != 0 &&
                    column_stride != 0;
  if (fits) {
    for (int i = 0; i < first; ++i) view.strides.push_back(strides[i]);
    view.strides.push_back(row_stride);
    view.strides.push_back(column_stride);
    return view;
  }
  view.at = p.scratch(shape.count() * 4);
  view.strides = dense_strides(merged);
  p.emit([shape, strides, from = operand.at, to = view.at](const Frame& f) {
    copy_strided(4, shape, f.at(from), strides, f.at(to), dense_strides(shape));
  });
  return view;
}

bool plan_product(Planner& p, const Space& space, const std::vector<Operand>& operands) {
  std::vector<Label> batch, rows, columns, summed;
  for (Label l : space.result) {
    const bool in_a = operands[0].has(l);
    const bool in_b = operands[1].has(l);
    (in_a && in_b ? batch : in_a ? rows : columns).push_back(l);
  }
  for (Label l : space.summed) {
    if (!operands[0].has(l) || !operands[1].has(l)) return false;
    summed.push_back(l);
  }
  if (batch.size() > 6 || batch.size() + rows.size() + columns.size() + summed.size() > 8) {
    return false;
  }
  const View a = matrices(p, space, operands[0], batch, rows, summed);
  const View b = matrices(p, space, operands[1], batch, summed, columns);
  const auto batch_rank = static_cast<int>(batch.size());
  BatchedMatmulArgs args;
  args.m = a.shape[batch_rank];
  args.k = a.shape[batch_rank + 1];
  args.n = b.shape[batch_rank + 1];
  args.a = {nullptr, Element::f32,          args.m,
            args.k,  a.strides[batch_rank], a.strides[batch_rank + 1]};
  args.b = {nullptr, Element::f32,          args.k,
            args.n,  b.strides[batch_rank], b.strides[batch_rank + 1]};
  args.ldc = args.n;
  args.batch_rank = batch_rank;
  std::int64_t c_stride = args.m * args.n;
  for (int i = batch_rank - 1; i >= 0; --i) {
    args.batch[i] = space.extent(batch[static_cast<std::size_t>(i)]);
    args.a_batch_stride[i] = a.strides[i];
    args.b_batch_stride[i] = b.strides[i];
    args.c_batch_stride[i] = c_stride;
    c_stride *= args.batch[i];
  }
  // The product stands as [batch…, rows…, columns…]; the result may want another order.
  std::vector<Label> order = batch;
  order.insert(order.end(), rows.begin(), rows.end());
  order.insert(order.end(), columns.begin(), columns.end());
  const bool direct = order == space.result;
  Dims shape;
  for (Label l : order) shape.push_back(space.extent(l));
  const Ref c = direct ? p.out_f32() : p.scratch(c_stride * 4);
  const double flops = 2.0 * static_cast<double>(c_stride) * static_cast<double>(args.k);
  p.emit("einsum matmul", flops, [args, a = a.at, b = b.at, c](const Frame& f) {
    BatchedMatmulArgs now = args;
    now.a.data = f.at(a);
    now.b.data = f.at(b);
    now.c = f.at(c);
    matmul_batched(now);
  });
  if (direct) return true;
  const Dims dense = dense_strides(shape);
  Dims to_shape, from_strides;
  for (Label l : space.result) {
    const auto at = static_cast<int>(std::find(order.begin(), order.end(), l) - order.begin());
    to_shape.push_back(shape[at]);
    from_strides.push_back(dense[at]);
  }
  const Ref y = p.out_f32();
  p.emit([to_shape, from_strides, c, y](const Frame& f) {
    copy_strided(4, to_shape, f.at(c), from_strides, f.at(y), dense_strides(to_shape));
  });
  return true;
}

PlanFn prepare(Compiler& c) {
  return [equation = parse(c.attrs().text("equation"))](Planner& p) {
    std::vector<Operand> operands;
    for (int i = 0; i < p.input_count(); ++i) {
      const View view = p.view_f32(i);
      operands.push_back(operand_of(
          view, labels_of(equation.operands[static_cast<std::size_t>(i)], view.shape.rank())));
    }
    const Space space = space_of(operands, labels_of(equation.result, p.out_shape().rank()));
    const bool product = operands.size() == 2 && is_kernel_float(p.dtype(0));
    if (!product || !plan_product(p, space, operands)) plan_loops(p, space, operands);
  };
}

}  // namespace

const Lowering cpu_einsum{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = kAllInputs};

}  // namespace concord::cpu
