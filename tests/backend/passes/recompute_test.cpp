#include <gtest/gtest.h>

#include "backend/engine/kernel.h"
#include "backend/passes/passes.h"
#include "cpu/library.h"
#include "graph/builder.h"
#include "graph/passes/gradient.h"
#include "ops/convolution.h"

namespace tpack {
namespace {

/// Four convolutions, with a function between two of them, and the gradients of their weights.
class Recompute : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  std::unique_ptr<KernelLibrary> library_ = cpu::make_library();
  std::vector<Symbol> hidden_;

  template <class F>
  Symbol output(const F& function) {
    std::vector<Symbol> weights;
    Symbol x = b_.image_input("x", {DType::kFloat32, {2, 4, 8, 8}});
    for (const std::string name : {"a", "b", "c", "d"}) {
      const Builder::NameScope scope(b_, name);
      weights.push_back(b_.variable("W", {4, 4, 3, 3}, {}));
      hidden_.push_back(convolution(b_, x, weights.back(), {.padding = {1, 1, 1, 1}}));
      x = function(hidden_.back());
    }
    const Symbol cost = b_.reduce_sum(x, {0, 1, 2, 3}, Builder::Keep::kNo);
    const std::vector<Symbol> found = gradients(b_, cost, weights);
    for (size_t i = 0; i < found.size(); ++i) b_.fetch("gradient " + std::to_string(i), found[i]);
    return x;
  }

  /// The paths of what is computed again.
  std::vector<std::string> recomputed() const {
    const Graph graph = recompute_sweeps(library_->rewritten(graph_));
    std::vector<std::string> paths;
    for (const auto& node : graph.nodes()) {
      const size_t end = node->path.find(kRecomputed);
      if (end != std::string::npos) paths.push_back(node->path.substr(0, end));
    }
    return paths;
  }
};

/// The gradient of a square needs its input anyway.
TEST_F(Recompute, computes_results_of_sweeps_where_the_gradient_needs_them) {
  output([this](Symbol x) { return b_.square(x); });
  const std::vector<std::string> paths = recomputed();
  ASSERT_EQ(paths.size(), 3U) << "between two convolutions";
  EXPECT_TRUE(paths[0].starts_with("c/")) << paths[0] << ": in the order in which they are needed";
  EXPECT_TRUE(paths[2].starts_with("a/")) << paths[2];
}

/// The gradient of a hyperbolic tangent needs its result, not its input, which would have to be kept.
TEST_F(Recompute, keeps_results_whose_inputs_are_not_needed_any_more) {
  output([this](Symbol x) { return b_.tanh(x); });
  EXPECT_TRUE(recomputed().empty());
}

TEST_F(Recompute, keeps_what_is_fetched) {
  const Symbol last = output([this](Symbol x) { return b_.square(x); });
  b_.fetch("y", last);
  b_.fetch("hidden", hidden_[1]);
  EXPECT_EQ(recomputed().size(), 3U);
  b_.fetch("square", b_.square(hidden_[1]));
  EXPECT_EQ(recomputed().size(), 2U) << "the same node as the one between b and c";
}

TEST_F(Recompute, changes_nothing_without_gradients) {
  b_.fetch("y", b_.exp(b_.reduce_sum(b_.exp(b_.input("x", {DType::kFloat32, {2, 40, 8, 8}})), {1})));
  const Graph before = library_->rewritten(graph_);
  EXPECT_EQ(recompute_sweeps(before).str(), before.str());
}

}  // namespace
}  // namespace tpack
