#include <gtest/gtest.h>

#include "backend/engine/kernel.h"
#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "graph/builder.h"
#include "graph/passes/gradient.h"
#include "graph/structural.h"
#include "ops/convolution.h"
#include "ops/matmul.h"
#include "ops/pooling.h"

namespace tpack {
namespace {

/// Stores bfloat16; average pooling has no kernel for it.
class StoringLibrary final : public KernelLibrary {
 public:
  const std::string& hardware() const override { return name_; }
  std::string version() const override { return name_; }
  Graph rewritten(const Graph& graph) const override { return fused(graph, *this); }
  bool fuses(const Fused& op, std::span<const Symbol> /*inputs*/) const override {
    return op.product()->is_product() && op.epilogue().code.size() == 1;
  }
  DType stored_type() const override { return DType::kBFloat16; }
  bool takes_stored(const Node& node) const override { return op_cast<AvgPool>(node) == nullptr; }
  LayoutRule rule(const Node& /*node*/) const override { return LayoutRule::kPlain; }
  bool accepts(const Node& /*node*/, Layout /*layout*/) const override { return true; }
  std::vector<Way> ways(const Node& /*node*/, bool /*only_direct*/) const override { return {}; }
  PreparedKernel prepare(const KernelRequest& /*request*/) const override { return {}; }
  std::unique_ptr<Kernel> reorder(const Format& /*from*/, const Format& /*to*/, int /*pieces*/,
                                  uint64_t& /*scratch_bytes*/) const override {
    return nullptr;
  }

 private:
  std::string name_ = "test";
};

class StoreHalf : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  StoringLibrary library_;

  Symbol image(const std::string& name, int64_t channels) {
    return b_.image_input(name, {DType::kFloat32, {2, channels, 8, 8}});
  }
  Symbol convolved(Symbol x, const std::string& weights) {
    const Symbol w = b_.variable(weights, {4, x.shape()[1], 3, 3}, {});
    return convolution(b_, x, w, {.padding = {1, 1, 1, 1}});
  }
  Graph stored() const { return library_.rewritten(graph_); }

  static std::vector<const Node*> nodes(const Graph& graph, const std::string& type) {
    std::vector<const Node*> found;
    const std::vector<bool> needed = graph.needed();
    for (const auto& node : graph.nodes()) {
      if (needed[static_cast<size_t>(node->id)] && node->op->type() == type) found.push_back(node.get());
    }
    return found;
  }
};

TEST_F(StoreHalf, stores_images_between_kernels_and_fetches_float32) {
  const Symbol hidden = b_.sigmoid(convolved(b_.exp(image("x", 3)), "W"));
  b_.fetch("y", convolved(hidden, "V"));
  const Graph graph = stored();
  const auto sweeps = nodes(graph, "Sweep");
  ASSERT_EQ(sweeps.size(), 2U);
  for (const Node* sweep : sweeps) EXPECT_EQ(sweep->outputs[0].dtype, DType::kBFloat16);
  const auto first = nodes(graph, "FusedConvolution");
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0]->outputs[0].dtype, DType::kBFloat16);
  EXPECT_EQ(first[0]->inputs[1].dtype(), DType::kFloat32) << "the kernel packs the weights";
  const auto last = nodes(graph, "Convolution");
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0]->inputs[0].dtype(), DType::kBFloat16);
  EXPECT_EQ(graph.fetches()[0].value.dtype(), DType::kFloat32);
}

TEST_F(StoreHalf, rounds_a_factor_that_is_an_input_once) {
  const Symbol x = image("x", 3);
  b_.fetch("y", b_.reduce_sum(b_.add(convolved(x, "W"), convolved(x, "V"))));
  const Graph graph = stored();
  int casts = 0;
  for (const Node* sweep : nodes(graph, "Sweep")) {
    if (op_cast<Input>(*sweep->inputs[0].node) != nullptr) ++casts;
  }
  EXPECT_EQ(casts, 1);
}

/// Both weights, their gradients, the step of the optimizer and the gradients' sum of squares.
TEST_F(StoreHalf, keeps_what_becomes_a_variable_in_float32) {
  const Symbol x = b_.input("x", {DType::kFloat32, {16, 16}});
  const Symbol w = b_.variable("W", {16, 16}, {});
  const Symbol v = b_.variable("V", {4, 3, 3, 3}, {});
  const Symbol hidden = b_.max(matmul(b_, x, w), 0.0);
  const Symbol y = convolution(b_, b_.exp(image("z", 3)), v, {});
  const Symbol cost = b_.add(b_.reduce_sum(b_.square(matmul(b_, hidden, w)), {0, 1}, Builder::Keep::kNo),
                             b_.reduce_sum(b_.square(y), {0, 1, 2, 3}, Builder::Keep::kNo));
  const std::vector<Symbol> found = gradients(b_, cost, std::vector<Symbol>{w, v});
  b_.assign("W", b_.sub(w, b_.mul(found[0], 0.1)));
  b_.assign("V", b_.reshape(b_.sub(b_.reshape(v, Shape{108}), b_.mul(b_.reshape(found[1], Shape{108}), 0.1)),
                            v.shape()));
  const Graph graph = stored();
  for (const Assignment& a : graph.assignments()) {
    std::vector<Symbol> open = {a.value};
    while (!open.empty()) {
      const Symbol value = open.back();
      open.pop_back();
      EXPECT_EQ(value.dtype(), DType::kFloat32) << value.node->path;
      if (value.node->op->is_product()) continue;
      open.insert(open.end(), value.node->inputs.begin(), value.node->inputs.end());
    }
  }
  bool has_half = false;
  for (const Node* product : nodes(graph, "MatMul")) {
    EXPECT_TRUE(is_half(product->inputs[0].dtype()) || is_half(product->inputs[1].dtype())) << product->path;
    has_half = true;
  }
  EXPECT_TRUE(has_half);
}

/// Such as logits, of which only a cost without such a kernel is made.
TEST_F(StoreHalf, rounds_nothing_that_only_ops_without_such_kernels_read) {
  const PoolingParams window{.window = {2, 2}, .stride = {2, 2}};
  b_.fetch("a", b_.sigmoid(avg_pool(b_, convolved(b_.exp(image("x", 3)), "W"), window)));
  const Graph graph = stored();
  const auto average = nodes(graph, "AvgPool");
  ASSERT_EQ(average.size(), 1U);
  EXPECT_STREQ(average[0]->inputs[0].node->op->type(), "Convolution");
  EXPECT_EQ(average[0]->inputs[0].dtype(), DType::kFloat32);
}

TEST_F(StoreHalf, gives_float32_to_ops_without_such_kernels) {
  const Symbol hidden = convolved(b_.exp(image("x", 3)), "W");
  const PoolingParams window{.window = {2, 2}, .stride = {2, 2}};
  b_.fetch("a", b_.sigmoid(avg_pool(b_, hidden, window)));
  b_.fetch("m", b_.sigmoid(max_pool(b_, hidden, window)));
  const Graph graph = stored();
  const auto average = nodes(graph, "AvgPool");
  ASSERT_EQ(average.size(), 1U);
  EXPECT_EQ(average[0]->inputs[0].dtype(), DType::kFloat32);
  EXPECT_EQ(average[0]->inputs[0].node->inputs[0].dtype(), DType::kBFloat16) << "from the stored image";
  const auto maximum = nodes(graph, "MaxPool");
  ASSERT_EQ(maximum.size(), 1U);
  EXPECT_EQ(maximum[0]->outputs[0].dtype, DType::kBFloat16);
}

}  // namespace
}  // namespace tpack
