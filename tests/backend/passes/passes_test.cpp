#include "backend/passes/passes.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "backend/passes/fused_ops.h"
#include "cpu/library.h"
#include "graph/builder.h"
#include "graph/passes/gradient.h"
#include "graph/passes/simplify.h"
#include "ops/batch_norm.h"
#include "ops/convolution.h"
#include "ops/matmul.h"
#include "ops/pooling.h"

namespace tpack {
namespace {

class PassesTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Symbol x_ = b_.input("x", {DType::kFloat32, {2, 3, 8, 8}});
  std::unique_ptr<KernelLibrary> library_ = cpu::make_library();

  static int count(const Graph& graph, const std::string& type) {
    int n = 0;
    const auto needed = graph.needed();
    for (const auto& node : graph.nodes())
      n += needed[static_cast<size_t>(node->id)] && node->op->type() == type ? 1 : 0;
    return n;
  }
  Symbol conv_bias(const std::string& name) {
    const Builder::NameScope scope(b_, name);
    const Symbol y = convolution(b_, x_, b_.variable("W", {4, 3, 3, 3}, {}), {.padding = {1, 1, 1, 1}});
    return b_.add(y, per_channel(b_, b_.variable("b", {4}, {}), y.shape()));
  }
};

TEST_F(PassesTest, takes_bias_and_relu_into_the_convolution) {
  b_.fetch("y", b_.max(conv_bias("conv"), 0.0));
  const Graph fused = fuse_epilogues(graph_, *library_);
  EXPECT_EQ(count(fused, "FusedConvolution"), 1);
  EXPECT_EQ(count(fused, "Pointwise"), 0);
  const auto* op = op_cast<Fused>(*fused.fetches()[0].value.node);
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->epilogue().inputs, 2) << "the product and the bias";
  EXPECT_EQ(op->epilogue().code.back().fn, pointwise::Fn::kMax);
}

TEST_F(PassesTest, takes_operands_in_any_order_into_the_product) {
  const Symbol product = matmul(b_, b_.input("a", {DType::kFloat32, {5, 3}}), b_.variable("W", {3, 4}, {}));
  b_.fetch("y", b_.max(0.0, b_.add(b_.variable("b", {4}, {}), product)));
  const Graph fused = fuse_epilogues(graph_, *library_);
  EXPECT_EQ(count(fused, "FusedMatMul"), 1);
  EXPECT_EQ(count(fused, "Pointwise"), 0);
}

TEST_F(PassesTest, leaves_what_the_library_does_not_fuse_to_sweeps) {
  b_.fetch("y", b_.tanh(conv_bias("conv")));
  const Symbol a = b_.input("a", {DType::kFloat32, {5, 3}});
  b_.fetch("sum",
           b_.add(matmul(b_, a, b_.variable("W", {3, 4}, {})), b_.input("c", {DType::kFloat32, {5, 4}})));
  const Graph fused = fuse_epilogues(graph_, *library_);
  EXPECT_EQ(count(fused, "FusedConvolution"), 1) << "with its bias";
  EXPECT_EQ(count(fused, "MatMul"), 1);
  EXPECT_EQ(count(fused, "Pointwise"), 2);
}

TEST_F(PassesTest, leaves_a_relu_alone_if_its_input_is_used_elsewhere) {
  const Symbol y = conv_bias("conv");
  b_.fetch("y", b_.max(y, 0.0));
  b_.fetch("before", y);
  const Graph fused = fuse_epilogues(graph_, *library_);
  EXPECT_EQ(op_cast<Fused>(*fused.fetches()[1].value.node)->epilogue().code.back().fn, pointwise::Fn::kAdd);
  EXPECT_EQ(count(fused, "Pointwise"), 1);
}

TEST_F(PassesTest, moves_relu_after_max_pooling) {
  b_.fetch("y", max_pool(b_, b_.max(x_, 0.0), {.window = {2, 2}, .stride = {2, 2}}));
  const Graph moved = move_relu_after_pooling(graph_);
  EXPECT_EQ(std::string(moved.fetches()[0].value.node->op->type()), "Pointwise");
  EXPECT_EQ(moved.fetches()[0].value.shape(), (Shape{2, 3, 4, 4}));
}

TEST_F(PassesTest, sums_the_bias_gradient_before_it_is_scattered) {
  const Symbol y = max_pool(b_, conv_bias("conv"), {.window = {2, 2}, .stride = {2, 2}});
  const std::vector<Symbol> wrt = {b_.read("conv/b", {DType::kFloat32, {4}})};
  b_.fetch("db", gradients(b_, b_.reduce_sum(b_.square(y)), wrt)[0]);
  const Graph graph = sum_before_scatter(simplify(graph_, Stops::kDrop));
  EXPECT_EQ(count(graph, "MaxPoolScatter"), 0);
}

TEST_F(PassesTest, lowers_batch_norm_to_sweeps) {
  const Node& norm =
      b_.emit<BatchNorm>({1e-5}, {x_, b_.variable("gamma", {3}, {}), b_.variable("beta", {3}, {})});
  b_.fetch("y", b_.max(norm.out(), 0.0));
  const Graph fused = fuse_pointwise(simplify(lower_batch_norm(graph_), Stops::kDrop));
  EXPECT_EQ(count(fused, "BatchNorm"), 0);
  EXPECT_EQ(count(fused, "Pointwise"), 0);
  // Mean and variance; scale and offset ([C] elements); the affine map with its ReLU.
  EXPECT_EQ(count(fused, "Sweep"), 3);
}

TEST_F(PassesTest, makes_one_sweep_of_a_chain_with_its_sums) {
  const Symbol y = b_.exp(b_.mul(x_, 2.0));
  b_.fetch("y", y);
  b_.fetch("sum", b_.reduce_sum(y, {0, 2, 3}));
  const Graph fused = fuse_pointwise(graph_);
  EXPECT_EQ(count(fused, "Sweep"), 1);
  EXPECT_EQ(count(fused, "Reduce"), 0);
}

TEST_F(PassesTest, writes_no_constant_for_a_sweep) {
  const Symbol row = b_.input("row", {DType::kFloat32, {1, 3, 1, 1}});
  b_.fetch("wide", b_.broadcast_to(row, x_.shape()));
  b_.fetch("y", b_.mul(b_.broadcast_to(row, x_.shape()), b_.exp(x_)));
  const Graph fused = fuse_pointwise(graph_);
  EXPECT_EQ(count(fused, "Sweep"), 1);
  EXPECT_EQ(count(fused, "Constant"), 0);
}

TEST_F(PassesTest, does_not_let_a_sweep_wait_for_itself) {
  // softmax: the sum is needed before the division can begin.
  const Symbol powers = b_.exp(x_);
  b_.fetch("y", b_.div(powers, b_.reduce_sum(powers, {1}, Builder::Keep::kYes)));
  const Graph fused = fuse_pointwise(graph_);
  EXPECT_EQ(count(fused, "Sweep"), 2);
}

TEST_F(PassesTest, makes_no_sweep_that_kernels_have_no_room_for) {
  Symbol sum = x_;
  for (size_t i = 0; i < 2 * Sweep::kMaxInputs; ++i)
    sum = b_.add(sum, b_.input("x" + std::to_string(i), x_.spec()));
  b_.fetch("y", sum);
  int sweeps = 0;
  const Graph result = fused(graph_, *library_);
  for (const auto& node : result.nodes()) {
    const auto* sweep = op_cast<Sweep>(*node);
    if (sweep == nullptr) continue;
    ++sweeps;
    EXPECT_LE(node->inputs.size(), Sweep::kMaxInputs);
    EXPECT_LE(sweep->expression().code.size(), Sweep::kMaxInstructions);
  }
  EXPECT_GE(sweeps, 2);
}

TEST_F(PassesTest, run_in_one_order_for_training_and_inference) {
  b_.fetch("y", max_pool(b_, b_.max(conv_bias("conv"), 0.0), {.window = {2, 2}, .stride = {2, 2}}));
  const Graph result = fused(graph_, *library_);
  EXPECT_EQ(count(result, "FusedConvolution"), 1);
  const Node& last = *result.fetches()[0].value.node;
  EXPECT_STREQ(last.op->type(), "Sweep") << "ReLU on what pooling leaves";
  std::vector<std::string> names;
  for (const GraphPass& pass : fusing_passes()) names.emplace_back(pass.name);
  EXPECT_LT(std::find(names.begin(), names.end(), "fuse_epilogues"),
            std::find(names.begin(), names.end(), "fuse_pointwise"));
}

/// What batch normalization is in inference.
class FoldScales : public PassesTest {
 protected:
  Symbol scaled(Symbol y, Symbol scale) {
    return b_.add(b_.mul(y, per_channel(b_, scale, y.shape())),
                  per_channel(b_, b_.variable("offset", {4}, {}), y.shape()));
  }
  Symbol convolved() {
    return convolution(b_, x_, b_.variable("W", {4, 3, 3, 3}, {}), {.padding = {1, 1, 1, 1}});
  }
};

TEST_F(FoldScales, into_the_weights) {
  b_.fetch("y", b_.max(scaled(convolved(), b_.rsqrt(b_.variable("variance", {4}, {}))), 0.0));
  const Graph fused = fuse_pointwise(fuse_epilogues(fold_scales(graph_), *library_));
  EXPECT_EQ(count(fused, "FusedConvolution"), 1);
  const Node& product = *fused.fetches()[0].value.node;
  EXPECT_STREQ(product.op->type(), "FusedConvolution") << "no sweep over the images is left";
  EXPECT_EQ(product.inputs[1].shape(), (Shape{4, 3, 3, 3}));
  EXPECT_STREQ(product.inputs[1].node->op->type(), "Sweep") << "of the weights";
}

TEST_F(FoldScales, not_if_the_scale_depends_on_inputs) {
  b_.fetch("y", scaled(convolved(), b_.input("scale", {DType::kFloat32, {4}})));
  EXPECT_EQ(fold_scales(graph_).str(), graph_.str());
}

TEST_F(FoldScales, not_if_others_use_the_convolution) {
  const Symbol y = convolved();
  b_.fetch("y", scaled(y, b_.variable("scale", {4}, {})));
  b_.fetch("before", y);
  EXPECT_EQ(fold_scales(graph_).str(), graph_.str());
}

TEST_F(FoldScales, not_in_programs_that_change_variables) {
  b_.fetch("y", scaled(convolved(), b_.variable("scale", {4}, {})));
  b_.assign("W", b_.mul(b_.variable("W", {4, 3, 3, 3}, {}), 2.0));
  EXPECT_EQ(fold_scales(graph_).str(), graph_.str());
}

}  // namespace
}  // namespace tpack
