#include "graph/builder.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "graph/structural.h"

namespace tpack {
namespace {

class BuilderTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};

  Symbol input(const std::string& name, const Shape& shape) {
    return b_.input(name, {DType::kFloat32, shape});
  }
};

TEST_F(BuilderTest, names_nodes_by_scope_and_number) {
  const Symbol x = input("x", {2});
  const Builder::NameScope outer(b_, "block");
  const Builder::NameScope inner(b_, "conv0");
  EXPECT_EQ(b_.exp(x).node->path, "block/conv0/Pointwise");
  EXPECT_EQ(b_.log(x).node->path, "block/conv0/Pointwise_1");
}

TEST_F(BuilderTest, declares_variables_under_the_scope_and_reads_them_once) {
  const Builder::NameScope scope(b_, "fc");
  const Symbol w = b_.variable("W", {3, 4}, {});
  const Symbol again = b_.variable("W", {3, 4}, {});
  EXPECT_EQ(w, again);
  ASSERT_NE(table_.find("fc/W"), nullptr);
  EXPECT_TRUE(table_.find("fc/W")->trainable);
}

TEST_F(BuilderTest, rejects_a_variable_of_another_shape_with_the_layer_s_position) {
  const Position here{std::make_shared<const std::string>("net.yaml"), 7, 5};
  const Builder::NameScope scope(b_, "fc", here);
  b_.variable("W", {3, 4}, {});
  try {
    b_.variable("W", {3, 5}, {});
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "net.yaml:7:5: variable fc/W is float32 [3, 4], but is used again as float32 [3, 5]; rename "
                 "one of the two layers");
  }
}

TEST_F(BuilderTest, samples_of_another_size_are_not_a_second_layer) {
  {
    const Symbol w = b_.variable("W", {3, 4}, {});
    ASSERT_TRUE(w);
  }
  Graph later;
  Builder again(later, table_, {});
  EXPECT_THAT(
      [&] {
        again.variable("W", {9, 4}, {});
      },
      testing::ThrowsMessage<ShapeError>(testing::HasSubstr("put GlobalAvgPooling before this layer")));
}

TEST_F(BuilderTest, puts_path_and_position_in_front_of_shape_errors) {
  const Position here{std::make_shared<const std::string>("net.yaml"), 3, 1};
  const Symbol x = input("x", {2, 3});
  const Symbol y = input("y", {4});
  const Builder::NameScope scope(b_, "add_0", here);
  try {
    b_.add(x, y);
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "net.yaml:3:1: add_0: shapes [2, 3] and [4] do not broadcast: 3 against 4");
  }
}

TEST_F(BuilderTest, reduces_with_and_without_keeping_axes) {
  const Symbol x = input("x", {2, 3, 4});
  EXPECT_EQ(b_.reduce_sum(x).shape(), Shape{});
  EXPECT_EQ(b_.reduce_sum(x, {-1}).shape(), (Shape{2, 3}));
  EXPECT_EQ(b_.reduce_max(x, {0, 2}, Builder::Keep::kYes).shape(), (Shape{1, 3, 1}));
}

TEST_F(BuilderTest, infers_one_size_of_a_reshape) {
  const Symbol x = input("x", {2, 3, 4});
  EXPECT_EQ(b_.reshape(x, {Shape::kUnknown, 6}).shape(), (Shape{4, 6}));
  EXPECT_EQ(b_.reshape(x, {2, 3, 4}), x);
}

TEST_F(BuilderTest, sums_to_the_shape_that_was_broadcast) {
  const Symbol x = input("x", {5, 3, 4});
  EXPECT_EQ(b_.sum_to(x, {3, 1}).shape(), (Shape{3, 1}));
  EXPECT_EQ(b_.sum_to(x, {5, 3, 4}), x);
}

TEST_F(BuilderTest, comparisons_give_bools_and_casts_leave_equal_types_alone) {
  const Symbol x = input("x", {5});
  EXPECT_EQ(b_.greater(x, 0.0).dtype(), DType::kBool);
  EXPECT_EQ(b_.cast(x, DType::kFloat32), x);
  EXPECT_EQ(b_.cast(x, DType::kInt32).dtype(), DType::kInt32);
}

TEST_F(BuilderTest, builds_on_a_graph_that_has_names_and_reads) {
  const Symbol w = b_.variable("w", {2}, {});
  b_.exp(w);
  Builder more(graph_, table_, {});
  EXPECT_EQ(more.variable("w", {2}, {}), w);
  EXPECT_EQ(more.exp(w).node->path, "Pointwise_1");
}

TEST(Builder, keeps_what_values_mean_where_they_are_moved) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2, 3}});
  const Symbol classes = b.declare(b.add(x, 1.0), kClassProbabilities);
  EXPECT_EQ(b.meaning(b.reshape(classes, {1, 2, 3})), kClassProbabilities);
  EXPECT_EQ(b.meaning(b.reshape(classes, {3, 2})), OutputMeaning()) << "the classes are on no axis";
  EXPECT_EQ(b.meaning(b.transpose(classes, {1, 0})), OutputMeaning());
  const Symbol each = b.sigmoid(x);
  EXPECT_EQ(b.meaning(b.reshape(each, {3, 2})), kProbabilities);
  EXPECT_EQ(b.meaning(b.transpose(each, {1, 0})), kProbabilities);
}

}  // namespace
}  // namespace tpack
