#include "graph/tower_function.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

/// cost = mean(image), with one output.
class MeanTower final : public TowerFunction {
 public:
  const std::vector<TowerInput>& inputs() const override { return inputs_; }
  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    const Symbol x = in.at("image");
    const Symbol cost = b.reduce_mean(x);
    return {
        .costs = {{kCost, cost}}, .statistics = {{"cost", cost, b.constant(1)}}, .outputs = {{"image", x}}};
  }

 private:
  std::vector<TowerInput> inputs_ = {{"image", "image", {DType::kFloat32, {4, 5, 3}}, true, "HWC"}};
};

TEST(BuildTower, brings_images_into_logical_order_and_fetches_statistics) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const MeanTower tower;
  const TowerResult result = build_tower(b, tower, {tower.inputs()[0].batch_spec(2)}, {"image"});
  EXPECT_EQ(result.outputs.at("image").shape(), (Shape{2, 3, 4, 5}));
  ASSERT_EQ(graph.fetches().size(), 3U);
  EXPECT_EQ(graph.fetches()[0].name, "cost/sum");
  EXPECT_EQ(graph.fetches()[1].name, "cost/weight");
  EXPECT_EQ(graph.fetches()[2].name, "image");
}

TEST(BuildTower, rejects_a_fetch_it_does_not_have) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const MeanTower tower;
  EXPECT_THROW(build_tower(b, tower, {tower.inputs()[0].batch_spec(2)}, {"imag"}), ConfigError);
}

}  // namespace
}  // namespace tpack
