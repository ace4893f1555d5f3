#include "backend/passes/depth_first.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "backend/passes/passes.h"
#include "cpu/library.h"
#include "graph/builder.h"
#include "graph/passes/simplify.h"
#include "ops/op_cases.h"
#include "ops/pooling.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

const PoolingParams kHalve = {.window = {2, 2}, .stride = {2, 2}};

class DepthFirstTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};

  Symbol convolved() {
    const Symbol x = b_.input("x", {DType::kFloat32, {2, 3, 8, 8}});
    const Symbol w = b_.variable("W", {4, 3, 3, 3}, {});
    const Symbol y = convolution(b_, x, w, {.padding = {1, 1, 1, 1}});
    return b_.add(y, per_channel(b_, b_.variable("b", {4}, {}), y.shape()));
  }
  Graph joined(int64_t least_bytes) const {
    return join_depth_first(fuse_epilogues(graph_, *cpu::make_library()), least_bytes);
  }
  static const Op& op_of(const Graph& graph) { return *graph.fetches()[0].value.node->op; }
};

TEST_F(DepthFirstTest, joins_a_convolution_with_its_pooling) {
  b_.fetch("y", max_pool(b_, convolved(), kHalve));
  const Graph graph = joined(1);
  const auto* op = dynamic_cast<const DepthFirst*>(&op_of(graph));
  ASSERT_NE(op, nullptr);
  EXPECT_TRUE(op->per_image(0));
  EXPECT_FALSE(op->per_image(1)) << "weights";
  EXPECT_FALSE(op->sums());
  EXPECT_EQ(graph.fetches()[0].value.shape(), (Shape{2, 4, 4, 4}));
  EXPECT_EQ(op->flops(*graph.fetches()[0].value.node), 2.0 * 2 * 4 * 8 * 8 * 3 * 3 * 3);
}

TEST_F(DepthFirstTest, leaves_small_results_and_those_with_other_readers_alone) {
  const Symbol y = convolved();
  b_.fetch("pooled", max_pool(b_, y, kHalve));
  EXPECT_STREQ(op_of(joined(1U << 20U)).type(), "MaxPool");
  b_.fetch("y", y);
  EXPECT_STREQ(op_of(joined(1)).type(), "MaxPool");
}

/// Large enough for the device to join it: the output, and the gradients through the joined scatter, which
/// has another reader if the image has a gradient, too.
TEST(DepthFirst, computes_what_the_reference_does) {
  const auto network = [](Builder& b, Symbols in) {
    const Symbol y = convolution(b, b.stop_gradient(in[0]), in[1], {.padding = {1, 1, 1, 1}});
    return std::vector{max_pool(b, b.add(y, per_channel(b, in[2], y.shape())), kHalve)};
  };
  for (const int64_t images : {40, 37}) {  // 37 is not divisible by two threads
    const testkit::BackendCheck check(network, {random_tensor({images, 1, 52, 52}, 1),
                                                random_tensor({16, 1, 3, 3}, 2), random_tensor({16}, 3)});
    for (const char* layout : {"nhwc", "nChw16c"}) {
      const auto result = check.run({.layout = layout, .threads = 2});
      EXPECT_LT(result.largest_error, 2e-5) << images << " " << layout << ": " << result.text;
      EXPECT_EQ(std::count(result.kinds.begin(), result.kinds.end(), "DepthFirst"), 2) << layout;
    }
  }
}

}  // namespace
}  // namespace tpack
