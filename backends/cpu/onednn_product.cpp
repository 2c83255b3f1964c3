#include "backends/cpu/onednn_product.h"

#include <list>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include "backends/cpu/kernels/parallel.h"
#include "graph/error.h"

namespace concord::cpu {
namespace {

using dnnl::memory;

// Primitives kept per product; each holds compiled code, and a growing cache asks for many.
constexpr std::size_t kMostPrimitives = 16;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::data_type type_of(Element type) {
  switch (type) {
    case Element::bf16:
      return memory::data_type::bf16;
    case Element::f16:
      return memory::data_type::f16;
    default:
      return memory::data_type::f32;
  }
}

memory::desc matrix(std::int64_t rows, std::int64_t cols, Element type, std::int64_t stride) {
  return {{rows, cols}, type_of(type), memory::dims{stride, 1}};
}

// What a primitive is made for: rows, strides, types and the epilogue's parts.
using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;

int parts_of(const MatmulArgs& args) {
  const Epilogue& e = args.epilogue;
  return (e.bias != nullptr ? 1 : 0) | (e.multiplier != nullptr ? 2 : 0) |
         (e.residual != nullptr ? 4 : 0) | static_cast<int>(e.activation) << 3 |
         static_cast<int>(args.a_type) << 8 | static_cast<int>(args.c_type) << 16;
}

void append_activation(dnnl::post_ops& ops, Activation activation) {
  using dnnl::algorithm;
  switch (activation) {
    case Activation::none:
      return;
    case Activation::relu:
      return ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
    case Activation::gelu_erf:
      return ops.append_eltwise(algorithm::eltwise_gelu_erf, 0, 0);
    case Activation::gelu_tanh:
      return ops.append_eltwise(algorithm::eltwise_gelu_tanh, 0, 0);
    case Activation::quick_gelu:
      return ops.append_eltwise(algorithm::eltwise_swish, 1.702f, 0);
    case Activation::silu:
      return ops.append_eltwise(algorithm::eltwise_swish, 1, 0);
    case Activation::tanh:
      return ops.append_eltwise(algorithm::eltwise_tanh, 0, 0);
    case Activation::sigmoid:
      return ops.append_eltwise(algorithm::eltwise_logistic, 0, 0);
  }
}

// A stride of 0 repeats one row.
memory::desc row_operand(std::int64_t rows, std::int64_t n, std::int64_t stride) {
  return stride == 0 ? matrix(1, n, Element::f32, n) : matrix(rows, n, Element::f32, stride);
}

[[noreturn]] void refuse(const dnnl::error& error) {
  throw Error(ErrorKind::failed, std::string("oneDNN: ") + error.what(),
              "leave out matmul=library");
}

}  // namespace

struct OnednnProduct::State {
  struct Entry {
    dnnl::matmul primitive;
    memory::desc a, rounded_a, bias, multiplier, residual, c;
    memory weights;
  };

  memory packed;
  std::mutex mutex;
  std::list<std::pair<Key, std::shared_ptr<const Entry>>> entries;  // the latest first

  std::shared_ptr<const Entry> entry(const OnednnProduct& product, const MatmulArgs& args);
  std::shared_ptr<const Entry> make(const OnednnProduct& product, const MatmulArgs& args) const;
};

std::shared_ptr<const OnednnProduct> OnednnProduct::pack(const MatrixView& view, Element storage) {
  std::shared_ptr<OnednnProduct> product(new OnednnProduct);
  product->k_ = view.rows;
  product->n_ = view.cols;
  product->storage_ = storage;
  product->state_ = std::make_unique<State>();
  try {
    // The layout that oneDNN wants for some rows; other numbers of rows that want another get a
    // copy of their own.
    constexpr std::int64_t kUsualRows = 64;
    const memory::desc weights({view.rows, view.cols}, type_of(storage), memory::format_tag::any);
    const dnnl::matmul::primitive_desc wanted(
        engine(), matrix(kUsualRows, view.rows, storage, view.rows), weights,
        matrix(kUsualRows, view.cols, Element::f32, view.cols));
    const memory::desc source({view.rows, view.cols}, type_of(view.type),
                              memory::dims{view.row_stride, view.col_stride});
    memory from(source, engine(), const_cast<void*>(view.data));
    product->state_->packed = memory(wanted.weights_desc(), engine());
    dnnl::stream stream(engine());
    dnnl::reorder(from, product->state_->packed).execute(stream, from, product->state_->packed);
    stream.wait();
  } catch (const dnnl::error& error) {
    refuse(error);
  }
  return product;
}

OnednnProduct::~OnednnProduct() = default;

std::size_t OnednnProduct::bytes() const {
  return state_->packed.get_desc().get_size();
}

std::shared_ptr<const OnednnProduct::State::Entry> OnednnProduct::State::make(
    const OnednnProduct& product, const MatmulArgs& args) const {
  const Epilogue& e = args.epilogue;
  auto made = std::make_shared<Entry>();
  made->a = matrix(args.rows, product.k(), args.a_type, args.lda);
  made->rounded_a = args.a_type == product.storage()
                        ? made->a
                        : matrix(args.rows, product.k(), product.storage(), product.k());
  made->c = matrix(args.rows, product.n(), args.c_type, args.ldc);
  dnnl::post_ops ops;
  append_activation(ops, e.activation);
  if (e.multiplier != nullptr) {
    made->multiplier = row_operand(args.rows, product.n(), e.multiplier_stride);
    ops.append_binary(dnnl::algorithm::binary_mul, made->multiplier);
  }
  if (e.residual != nullptr) {
    made->residual = row_operand(args.rows, product.n(), e.residual_stride);
    ops.append_binary(dnnl::algorithm::binary_add, made->residual);
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(ops);
  const memory::desc any({product.k(), product.n()}, type_of(product.storage()),
                         memory::format_tag::any);
  if (e.bias != nullptr) made->bias = matrix(1, product.n(), Element::f32, product.n());
  const dnnl::matmul::primitive_desc description =
      e.bias != nullptr
          ? dnnl::matmul::primitive_desc(engine(), made->rounded_a, any, made->bias, made->c,
                                         attributes)
          : dnnl::matmul::primitive_desc(engine(), made->rounded_a, any, made->c, attributes);
  made->primitive = dnnl::matmul(description);
  made->weights = packed;
  if (description.weights_desc() != packed.get_desc()) {
    made->weights = memory(description.weights_desc(), engine());
    dnnl::stream stream(engine());
    memory from = packed;
    dnnl::reorder(from, made->weights).execute(stream, from, made->weights);
    stream.wait();
  }
  return made;
}

std::shared_ptr<const OnednnProduct::State::Entry> OnednnProduct::State::entry(
    const OnednnProduct& product, const MatmulArgs& args) {
  const Key key{args.rows,
                args.lda,
                args.ldc,
                args.epilogue.multiplier_stride,
                args.epilogue.residual_stride,
                parts_of(args)};
  const std::lock_guard lock(mutex);
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (it->first != key) continue;
    entries.splice(entries.begin(), entries, it);
    return it->second;
  }
  entries.emplace_front(key, make(product, args));
  if (entries.size() > kMostPrimitives) entries.pop_back();
  return entries.front().second;
}

void OnednnProduct::run(const MatmulArgs& args) const {
  if (args.rows == 0 || n_ == 0) return;
  try {
    const std::shared_ptr<const State::Entry> entry = state_->entry(*this, args);
    const auto bind = [](const memory::desc& desc, const void* data) {
      return memory(desc, engine(), const_cast<void*>(data));
    };
    dnnl::stream stream(engine());
    memory a = bind(entry->a, args.a);
    if (entry->rounded_a != entry->a) {
      memory rounded(entry->rounded_a, engine());
      dnnl::reorder(a, rounded).execute(stream, a, rounded);
      a = rounded;
    }
    std::unordered_map<int, memory> operands{{DNNL_ARG_SRC, a},
                                             {DNNL_ARG_WEIGHTS, entry->weights},
                                             {DNNL_ARG_DST, bind(entry->c, args.c)}};
    const Epilogue& e = args.epilogue;
    if (e.bias != nullptr) operands.emplace(DNNL_ARG_BIAS, bind(entry->bias, e.bias));
    int op = e.activation == Activation::none ? 0 : 1;
    if (e.multiplier != nullptr) {
      operands.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(op++) | DNNL_ARG_SRC_1,
                       bind(entry->multiplier, e.multiplier));
    }
    if (e.residual != nullptr) {
      operands.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(op) | DNNL_ARG_SRC_1,
                       bind(entry->residual, e.residual));
    }
    entry->primitive.execute(stream, operands);
    stream.wait();
  } catch (const dnnl::error& error) {
    refuse(error);
  }
}

const char* onednn_version() {
  static const std::string text = [] {
    const dnnl::version_t* v = dnnl::version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
  }();
  return text.c_str();
}

}  // namespace concord::cpu
