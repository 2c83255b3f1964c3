#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "importer/conversion.h"

namespace concord::importer {

std::string lower_case(std::string_view text);

using Texts = std::vector<std::string>;
Tensor list_of(const Texts& texts);  // rank 1

// The seed of a node that draws numbers: its attribute, or one made of its output's name.
std::int64_t random_seed(Conversion& c);
// Numbers drawn as `fn` of the core operator random says, in the shape of x.
ValueId draw_like(Conversion& c, const char* fn, double alpha, double beta, DataType dtype,
                  ValueId x);

// Scores [N, classes] after an attribute post_transform of ai.onnx.ml.
ValueId post_transform(Conversion& c, const std::string& name, ValueId scores);
// The labels of ai.onnx.ml's classifiers: classlabels_ints or _int64s, or _strings.
std::optional<Tensor> class_labels(Conversion& c);

// The activation of a fused operator of com.microsoft, by its ONNX name.
ValueId activate(Conversion& c, const std::string& name, ValueId x, std::optional<double> alpha,
                 std::optional<double> beta);

// auto_pad, strides, dilations and pads as conv and pool want them; lists that are not given are
// left out, for inference to fill.
void read_window(Conversion& c, Attributes& attrs);

// A list attribute of a given length; `otherwise` repeated if it is not given.
std::vector<std::int64_t> integers_or(Conversion& c, std::string_view name, std::size_t length,
                                      std::int64_t otherwise);

// alpha·a·b with numpy's rule for operands of rank 1; b may be an integer product, see `product`.
ValueId numpy_matmul(Conversion& c, ValueId a, ValueId b,
                     const std::function<ValueId(ValueId, ValueId)>& product);

// Normalisation over the axes from `axis` on; gamma and beta of any shape that broadcasts.
ValueId layer_norm(Conversion& c, ValueId x, ValueId gamma, ValueId beta, std::int64_t axis,
                   double epsilon);
ValueId rms_norm(Conversion& c, ValueId x, ValueId gamma, std::int64_t axis, double epsilon);

// x − zero_point, times scale, as float32 (or the scale's type); axis for scales along one.
ValueId dequantize(Conversion& c, ValueId x, ValueId scale, ValueId zero_point,
                   std::int64_t axis = 0, std::int64_t block_size = 0,
                   DataType to = DataType::undefined);
ValueId quantize(Conversion& c, ValueId x, ValueId scale, ValueId zero_point, DataType to,
                 std::int64_t axis = 0, std::int64_t block_size = 0, bool saturate = true);

// Operands of the core operator attention; see ops.def.
struct AttentionOperands {
  ValueId q, k, v;
  ValueId mask;
  ValueId kv_lengths;
  std::string q_layout = "bhsd";
  std::string k_layout = "bhsd";
  std::string v_layout = "bhsd";
  std::string y_layout = "bhsd";
  double scale = 1;
  std::string causal = "none";
  std::int64_t window = -1;
  double softcap = 0;
  DataType softmax_precision = DataType::undefined;
};
ValueId emit_attention(Conversion& c, const AttentionOperands& operands);

// [B, S, heads·D] as [B, S, heads, D].
ValueId split_heads(Conversion& c, ValueId x, std::int64_t heads);
// [B, S, heads, D] as [B, S, heads·D].
ValueId merge_heads(Conversion& c, ValueId x);

}  // namespace concord::importer
