#include "graph/images.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "ops/convolution.h"
#include "ops/matmul.h"
#include "ops/pad.h"
#include "ops/pooling.h"

namespace tpack {
namespace {

class ImagesTest : public testing::Test {
 protected:
  Symbol input(const char* name, const Shape& shape) { return b_.input(name, {DType::kFloat32, shape}); }

  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
};

TEST_F(ImagesTest, are_what_a_convolution_takes_and_gives_and_not_its_weights) {
  const Symbol x = input("x", {2, 3, 8, 8});
  const Symbol w = b_.variable("W", {4, 3, 3, 3}, {});
  const Symbol penalty = b_.square(w);
  const Symbol y = convolution(b_, x, w, {});
  const Images images(graph_);
  EXPECT_TRUE(images.contains(x));
  EXPECT_TRUE(images.contains(y));
  EXPECT_FALSE(images.contains(w));
  EXPECT_FALSE(images.contains(penalty));
  EXPECT_TRUE(images.touch(*y.node));
  EXPECT_FALSE(images.touch(*penalty.node));
}

TEST_F(ImagesTest, are_what_elementwise_ops_join_with_one) {
  const Symbol x = input("x", {2, 16, 8, 8});
  const Symbol before = b_.exp(b_.reshape(input("flat", {2, 16 * 64}), {2, 16, 8, 8}));
  const Symbol sum = b_.add(before, x);
  const Symbol cut = slice(b_, sum, {0, 0, 1, 1}, {2, 16, 6, 6});
  const Symbol mask = input("mask", {2, 1, 8, 8});
  const Symbol masked = b_.mul(sum, mask);
  const Symbol per_channel = input("scale", {1, 16, 1, 1});
  b_.mul(sum, per_channel);
  max_pool(b_, x, {.window = {2, 2}, .stride = {2, 2}});
  const Images images(graph_);
  for (const Symbol& value : {x, before, sum, cut, mask, masked}) EXPECT_TRUE(images.contains(value));
  EXPECT_FALSE(images.contains(per_channel)) << "one value per channel";
}

TEST_F(ImagesTest, are_not_whatever_has_four_axes) {
  const Symbol queries = input("q", {2, 8, 5, 16});
  const Symbol scores = b_.mul(queries, b_.reduce_max(queries, {3}, Builder::Keep::kYes));
  const Symbol image = b_.image_input("image", {DType::kFloat32, {2, 3, 8, 8}});
  const Images images(graph_);
  EXPECT_FALSE(images.contains(queries));
  EXPECT_FALSE(images.contains(scores));
  EXPECT_TRUE(images.contains(image));
}

}  // namespace
}  // namespace tpack
