#include "predict/target_input.h"

#include "support/small_model.h"

namespace tpack {
namespace {

std::optional<TargetInput> compared(const std::string& layers_and_cost) {
  return target_input(
      *model_of("inputs: {x: {shape: [4]}, y: {shape: [], dtype: int32}, t: "
                "{shape: [1]}}\n" +
                layers_and_cost));
}

TEST(TargetInputTest, is_what_the_first_term_compares_with) {
  const auto labels = compared(
      "layers: [FullyConnected: {name: f, input: x, units: 3}]\n"
      "cost: [SoftmaxCrossEntropy: {logits: f, labels: y, label_smoothing: 0.1}]");
  ASSERT_TRUE(labels.has_value());
  EXPECT_EQ(labels->input, "y");
  EXPECT_EQ(labels->component, "y");
  EXPECT_FALSE(labels->classes.value().by_logit);
  EXPECT_EQ(labels->predictions, 3);
  const auto one_unit = compared(
      "layers: [FullyConnected: {name: f, input: x, units: 1}]\n"
      "cost: [SigmoidCrossEntropy: {logits: f, labels: t}]");
  ASSERT_TRUE(one_unit.has_value());
  EXPECT_EQ(one_unit->input, "t");
  EXPECT_TRUE(one_unit->classes.value().by_logit);
  EXPECT_EQ(one_unit->predictions, 1);
}

TEST(TargetInputTest, is_nothing_where_no_input_is_compared) {
  EXPECT_FALSE(
      compared("layers: [{FullyConnected: {name: f, input: x, units: 1}}, {FullyConnected: {name: g, "
               "input: x, units: 1}}]\ncost: [MeanSquaredError: {predictions: f, targets: g}]"));
}

}  // namespace
}  // namespace tpack
