// Extents that only a run tells, with attributes that no exporter writes.
#include "graph/geometry.h"

#include <gtest/gtest.h>

#include "graph/error.h"

namespace concord::graph {
namespace {

using Ints = std::vector<std::int64_t>;

Node window_node(OpKind op, Attributes attrs) {
  Node node;
  node.op = op;
  attrs.set("group", attrs.integer("group", 1));
  node.attrs = std::move(attrs);
  return node;
}

TEST(Geometry, BoundsWindowsWhoseWeightsAreKnownLate) {
  constexpr std::int64_t huge = (std::int64_t{1} << 62) + 1;
  const Shape x = {1, 1, 8};
  const Shape w = {1, 1, 5};
  for (const char* name : {"dilations", "strides"}) {
    const Attributes attrs = {{name, Ints{huge}}};
    EXPECT_THROW(conv_geometry(window_node(OpKind::conv, attrs), x, w), Error) << name;
    EXPECT_THROW(conv_transpose_geometry(window_node(OpKind::conv_transpose, attrs), x, w), Error)
        << name;
    Attributes pool = attrs;
    pool.set("kernel", Ints{5});
    EXPECT_THROW(pool_geometry(window_node(OpKind::pool, pool), x), Error) << name;
  }
  for (const Ints& pads : {Ints{huge, huge}, Ints{-huge, huge}, Ints{0, -huge}}) {
    const Attributes attrs = {{"pads", pads}};
    EXPECT_THROW(conv_geometry(window_node(OpKind::conv, attrs), x, w), Error);
    EXPECT_THROW(conv_transpose_geometry(window_node(OpKind::conv_transpose, attrs), x, w), Error);
  }
  for (const Attributes& attrs :
       {Attributes{{"output_padding", Ints{huge}}}, Attributes{{"output_padding", Ints{-1}}},
        Attributes{{"output_shape", Ints{-huge}}}, Attributes{{"output_shape", Ints{huge}}}}) {
    EXPECT_THROW(conv_transpose_geometry(window_node(OpKind::conv_transpose, attrs), x, w), Error);
  }
  const ConvGeometry fits =
      conv_geometry(window_node(OpKind::conv, {{"dilations", Ints{1}}}), x, w);
  EXPECT_EQ(fits.output, (Shape{1, 1, 4}));
}

TEST(Geometry, ChannelsByGroupsFitTheirNumbers) {
  constexpr std::int64_t half = std::int64_t{1} << 32;
  const Attributes attrs = {{"group", half}};
  // 2^32 · 2^32 is 0 in 64 bits.
  EXPECT_THROW(
      conv_geometry(window_node(OpKind::conv, attrs), Shape{1, 0, 8}, Shape{half, half, 5}), Error);
  EXPECT_THROW(conv_transpose_geometry(window_node(OpKind::conv_transpose, attrs),
                                       Shape{1, half, 8}, Shape{half, half, 5}),
               Error);
}

TEST(Geometry, NothingCannotBeResizedToSomething) {
  const auto resize = [](const Shape& x, const Ints& sizes, const char* aspect) {
    Node node;
    node.op = OpKind::resize;
    node.attrs = {{"mode", std::string("linear")},
                  {"coordinates", std::string("half_pixel")},
                  {"keep_aspect", std::string(aspect)}};
    const std::vector<Tensor> inputs = {Tensor(), Tensor(), Tensor(), Tensor::from_ints(sizes)};
    return resize_geometry(node, x, inputs, {});
  };
  for (const char* aspect : {"stretch", "not_larger", "not_smaller"}) {
    EXPECT_THROW(resize({1, 1, 0, 4}, {1, 1, 3, 4}, aspect), Error) << aspect;
    const ResizeGeometry empty = resize({1, 1, 0, 4}, {1, 1, 0, 4}, aspect);
    EXPECT_EQ(empty.output, (Shape{1, 1, 0, 4})) << aspect;
    EXPECT_EQ(empty.scales, (std::vector<double>{1, 1, 1, 1})) << aspect;
  }
}

}  // namespace
}  // namespace concord::graph
