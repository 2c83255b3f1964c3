#include "backends/cpu/weights.h"

#include "backends/cpu/element.h"

namespace concord::cpu {
MatrixView view_of(const WeightMatrix& m) {
  MatrixView view;
  view.data =
      m.tensor.data() + m.offset * static_cast<std::int64_t>(element_bytes(m.tensor.dtype()));
  view.type = element(m.tensor.dtype());
  view.rows = m.rows;
  view.cols = m.cols;
  view.row_stride = m.row_stride;
  view.col_stride = m.col_stride;
  return view;
}

WeightStore::Key WeightStore::key_of(const std::vector<WeightMatrix>& matrices, Element storage) {
  Key key;
  for (const WeightMatrix& m : matrices) {
    key.emplace_back(static_cast<const std::byte*>(view_of(m).data), m.rows, m.cols, m.row_stride,
                     m.col_stride, storage);
  }
  return key;
}

std::shared_ptr<const PackedWeights> WeightStore::pack(const std::vector<WeightMatrix>& matrices,
                                                       Element storage) {
  std::shared_ptr<const PackedWeights>& packed = packed_[key_of(matrices, storage)];
  if (packed == nullptr) {
    std::vector<MatrixView> views;
    for (const WeightMatrix& m : matrices) views.push_back(view_of(m));
    packed = std::make_shared<PackedWeights>(PackedWeights::pack(views, storage));
    bytes_ += static_cast<std::int64_t>(packed->bytes());
    for (const WeightMatrix& m : matrices) m.tensor.release_pages();
  }
  return packed;
}

std::shared_ptr<const PackedWeights> WeightStore::find(const WeightMatrix& matrix,
                                                       Element storage) const {
  const auto found = packed_.find(key_of({matrix}, storage));
  return found == packed_.end() ? nullptr : found->second;
}

}  // namespace concord::cpu
