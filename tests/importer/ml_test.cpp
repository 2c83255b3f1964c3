// What onnxruntime 1.32.0 computed (CPU provider; one node, opset 17 of ONNX, 1 of com.microsoft, 3 of
// ai.onnx.ml, on these inputs by InferenceSession.run).
#include "tests/importer/values_case.h"

namespace concord::importer {
namespace {

class Ml : public ::testing::TestWithParam<ValueCase> {};

TEST_P(Ml, GivesOnnxruntimesValues) {
  expect_values(GetParam());
}

const std::vector<ValueCase> kCases = {
    {"scaler", "Scaler", "ai.onnx.ml",
     {t(DataType::f32, {2, 3}, {1.9, -2.1, -0.7, 0.4, 0, 0.4})},
     {{"offset", std::vector<float>{1.0F, 2.0F, 3.0F}}, {"scale", std::vector<float>{0.5F, 2.0F, 1.0F}}},
     {t(DataType::f32, {2, 3}, {0.45, -8.2, -3.7, -0.3, -4, -2.6})}},
    {"normalizer_MAX", "Normalizer", "ai.onnx.ml",
     {t(DataType::f32, {2, 3}, {1.8, 0.6, -1.2, -3.7, -0.5, -3.2})},
     {{"norm", "MAX"}},
     {t(DataType::f32, {2, 3}, {1, 0.3333333, -0.6666667, 7.4, 1, 6.4})}},
    {"normalizer_L1", "Normalizer", "ai.onnx.ml",
     {t(DataType::f32, {2, 3}, {-0.2, 0.7, -2.6, -0.2, -0.7, 3.8})},
     {{"norm", "L1"}},
     {t(DataType::f32, {2, 3}, {-0.05714286, 0.2, -0.7428571, -0.04255319, -0.1489362, 0.8085107})}},
    {"normalizer_L2", "Normalizer", "ai.onnx.ml",
     {t(DataType::f32, {2, 3}, {0.9, -3.8, 0.8, 0.8, -0.5, -0.8})},
     {{"norm", "L2"}},
     {t(DataType::f32, {2, 3}, {0.2257774, -0.9532825, 0.2006911, 0.6467617, -0.404226, -0.6467617})}},
    {"imputer", "Imputer", "ai.onnx.ml",
     {t(DataType::f32, {2, 2}, {1, NAN, 3, 4})},
     {{"imputed_value_floats", std::vector<float>{9.0F, 8.0F}}, {"replaced_value_float", std::nan("")}},
     {t(DataType::f32, {2, 2}, {1, 8, 3, 4})}},
    {"one_hot", "OneHotEncoder", "ai.onnx.ml",
     {t(DataType::i64, {3}, {1, 5, 3})},
     {{"cats_int64s", Ints{1, 2, 3}}, {"zeros", 1}},
     {t(DataType::f32, {3, 3}, {1, 0, 0, 0, 0, 0, 0, 0, 1})}},
    {"linear_regressor", "LinearRegressor", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"coefficients", std::vector<float>{0.5F, -1.0F, 2.0F, 0.25F}}, {"intercepts", std::vector<float>{0.1F, -0.2F}}, {"targets", 2}},
     {t(DataType::f32, {3, 2}, {1.3, 0.775, 0.1500001, -5.1, -2.8, 2.225})}},
    {"linear_classifier", "LinearClassifier", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"coefficients", std::vector<float>{0.5F, -1.0F, 2.0F, 0.25F, -1.0F, 1.0F}}, {"intercepts", std::vector<float>{0.1F, -0.2F, 0.0F}}, {"classlabels_ints", Ints{7, 8, 9}}, {"post_transform", "SOFTMAX"}},
     {t(DataType::i64, {3}, {7, 9, 9}), t(DataType::f32, {3, 3}, {0.605193, 0.3580052, 0.03680182, 0.2784773, 0.001461315, 0.7200614, 0.002828797, 0.4304589, 0.5667124})}},
    {"linear_classifier_binary", "LinearClassifier", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"coefficients", std::vector<float>{0.5F, -1.0F}}, {"intercepts", std::vector<float>{0.1F}}, {"classlabels_ints", Ints{0, 1}}, {"post_transform", "LOGISTIC"}},
     {t(DataType::i64, {3}, {1, 1, 0}), t(DataType::f32, {3, 2}, {0.214165, 0.785835, 0.4625702, 0.5374298, 0.9426758, 0.05732417})}},
    {"tree_regressor", "TreeEnsembleRegressor", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}}, {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}}, {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}}, {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}}, {"nodes_values", std::vector<float>{0.5F, 0.0F, 0.0F, -0.3F, 0.0F, 0.0F}}, {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}}, {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}, {"target_treeids", Ints{0, 0, 1, 1}}, {"target_nodeids", Ints{1, 2, 1, 2}}, {"target_ids", Ints{0, 0, 0, 0}}, {"target_weights", std::vector<float>{1.5F, -2.0F, 0.25F, 3.0F}}, {"n_targets", 1}, {"base_values", std::vector<float>{0.5F}}, {"aggregate_function", "AVERAGE"}},
     {t(DataType::f32, {3, 1}, {-0.375, 1.375, 1})}},
    {"tree_classifier", "TreeEnsembleClassifier", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}}, {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}}, {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}}, {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}}, {"nodes_values", std::vector<float>{0.5F, 0.0F, 0.0F, -0.3F, 0.0F, 0.0F}}, {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}}, {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}, {"class_treeids", Ints{0, 0, 1, 1}}, {"class_nodeids", Ints{1, 2, 1, 2}}, {"class_ids", Ints{0, 1, 2, 1}}, {"class_weights", std::vector<float>{1.5F, 2.0F, 0.25F, 3.0F}}, {"classlabels_int64s", Ints{4, 5, 6}}, {"post_transform", "SOFTMAX"}},
     {t(DataType::i64, {3}, {5, 4, 5}), t(DataType::f32, {3, 3}, {0.1033797, 0.7638782, 0.1327421, 0.6624118, 0.1478041, 0.1897842, 0.006648355, 0.9867033, 0.006648355})}},
    {"tree_classifier_prob", "TreeEnsembleClassifier", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}}, {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}}, {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}}, {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}}, {"nodes_values", std::vector<float>{0.5F, 0.0F, 0.0F, -0.3F, 0.0F, 0.0F}}, {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}}, {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}, {"class_treeids", Ints{0, 0, 1, 1}}, {"class_nodeids", Ints{1, 2, 1, 2}}, {"class_ids", Ints{0, 0, 0, 0}}, {"class_weights", std::vector<float>{0.1F, 0.3F, 0.2F, 0.5F}}, {"classlabels_int64s", Ints{0, 1}}, {"post_transform", "NONE"}},
     {t(DataType::i64, {3}, {0, 0, 1}), t(DataType::f32, {3, 2}, {0.5, 0.5, 0.7, 0.3, 0.2, 0.8})}},
    {"tree_classifier_margin", "TreeEnsembleClassifier", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}}, {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}}, {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}}, {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}}, {"nodes_values", std::vector<float>{0.5F, 0.0F, 0.0F, -0.3F, 0.0F, 0.0F}}, {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}}, {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}, {"class_treeids", Ints{0, 0, 1, 1}}, {"class_nodeids", Ints{1, 2, 1, 2}}, {"class_ids", Ints{0, 0, 0, 0}}, {"class_weights", std::vector<float>{-1.5F, 2.0F, 0.25F, -3.0F}}, {"classlabels_int64s", Ints{0, 1}}, {"post_transform", "LOGISTIC"}},
     {t(DataType::i64, {3}, {1, 0, 0}), t(DataType::f32, {3, 2}, {0.09534949, 0.9046505, 0.7772999, 0.2227001, 0.7310586, 0.2689414})}},
    {"tree_classifier_margin_none", "TreeEnsembleClassifier", "ai.onnx.ml",
     {t(DataType::f32, {3, 2}, {0.6, -0.9, -2.3, -1.2, 0.8, 3.3})},
     {{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}}, {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}}, {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}}, {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}}, {"nodes_values", std::vector<float>{0.5F, 0.0F, 0.0F, -0.3F, 0.0F, 0.0F}}, {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}}, {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}, {"class_treeids", Ints{0, 0, 1, 1}}, {"class_nodeids", Ints{1, 2, 1, 2}}, {"class_ids", Ints{0, 0, 0, 0}}, {"class_weights", std::vector<float>{-1.5F, 2.0F, 0.25F, -3.0F}}, {"classlabels_int64s", Ints{0, 1}}, {"post_transform", "NONE"}},
     {t(DataType::i64, {3}, {1, 0, 0}), t(DataType::f32, {3, 2}, {-2.25, 2.25, 1.25, -1.25, 1, -1})}},
    {"tfidf_permuted", "TfIdfVectorizer", "",
     {t(DataType::i64, {3}, {2, 3, 3})},
     {{"mode", "TFIDF"}, {"min_gram_length", 1}, {"max_gram_length", 1}, {"max_skip_count", 0}, {"pool_int64s", Ints{2, 3}}, {"ngram_counts", Ints{0}}, {"ngram_indexes", Ints{1, 0}}, {"weights", std::vector<float>{10.0F, 100.0F}}},
     {t(DataType::f32, {2}, {200, 10})}},
};

INSTANTIATE_TEST_SUITE_P(Values, Ml, ::testing::ValuesIn(kCases), case_name);

}  // namespace
}  // namespace concord::importer
