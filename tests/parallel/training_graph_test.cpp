#include "parallel/training_graph.h"

#include <gmock/gmock.h>

#include "support/small_model.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Signature kFed = {{DType::kFloat32, {4, 5}}, {DType::kInt32, {4}}};

class TrainingGraph : public testing::Test {
 protected:
  static std::vector<std::string> assigned(const Graph& graph) {
    std::vector<std::string> names;
    for (const Assignment& a : graph.assignments()) names.push_back(a.variable);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string error_of(const std::string& model) {
    try {
      backward_graph(*model_of(model), table_, kFed, DType::kFloat32, {});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  VariableTable table_;
  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
};

TEST_F(TrainingGraph, backward_assigns_every_gradient_and_fetches_statistics) {
  const Graph graph = backward_graph(*model_, table_, kFed, DType::kFloat32, {"fc0"});
  EXPECT_THAT(assigned(graph),
              ElementsAre("@gradient/fc0/W", "@gradient/fc0/b", "@gradient/fc1/W", "@gradient/fc1/b"));
  std::vector<std::string> names;
  for (const Fetch& fetch : graph.fetches()) names.push_back(fetch.name);
  EXPECT_EQ(names[0], "cost/sum");
  EXPECT_EQ(names[1], "cost/weight");
  EXPECT_THAT(names, testing::Contains("fc0"));
}

TEST_F(TrainingGraph, the_flat_block_is_in_the_order_in_which_backward_ends) {
  declare_training_variables(*model_, *optimizer_of("Momentum: {}"), table_, kFed, DType::kFloat32);
  const FlatLayout layout = flat_layout(table_);
  ASSERT_EQ(layout.entries.size(), 4U);
  EXPECT_THAT(layout.entries[0].name, testing::StartsWith("fc1/"));  // the last layer's come first
  EXPECT_THAT(layout.entries[3].name, testing::StartsWith("fc0/"));
  for (const auto& entry : layout.entries) EXPECT_EQ(entry.offset % 16, 0);
  EXPECT_NE(table_.find("learning_rate"), nullptr);
  EXPECT_NE(table_.find("@momentum"), nullptr);
}

TEST_F(TrainingGraph, update_reads_the_gradient_block_and_assigns_the_parameters) {
  const auto optimizer = optimizer_of("Momentum: {}");
  declare_training_variables(*model_, *optimizer, table_, kFed, DType::kFloat32);
  const Graph graph = update_graph(*optimizer, table_, DType::kFloat32, 0.5);
  EXPECT_THAT(assigned(graph), ElementsAre("@momentum", "@parameters"));
}

TEST_F(TrainingGraph, refuses_a_model_without_cost) {
  std::string model = kSmallModel;
  model.replace(model.find("cost:"), model.find("metrics:") - model.find("cost:"), "cost: []\n");
  EXPECT_THAT(error_of(model), HasSubstr("the model has no cost"));
}

TEST_F(TrainingGraph, refuses_a_cost_that_no_variable_matters_to) {
  EXPECT_THAT(error_of(R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - Tanh
cost:
  - SoftmaxCrossEntropy: {logits: tanh_0, labels: label}
)"),
              HasSubstr("the cost depends on no trainable variable"));
}

}  // namespace
}  // namespace tpack
