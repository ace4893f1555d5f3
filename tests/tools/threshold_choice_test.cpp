#include "tools/threshold_choice.h"

#include <cmath>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "backend/inference_tower.h"
#include "support/small_model.h"

namespace tpack {
namespace {

/// A model whose logit of yes is its input.
class ThresholdChoiceTest : public testing::Test {
 protected:
  ThresholdChoice seen(const std::vector<double>& probabilities, const std::vector<float>& labels) {
    const auto model = model_of(
        "inputs: {x: {shape: [1]}, y: {shape: [1]}}\nlayers: [Identity: {name: logit, input: x}]\n"
        "cost: [SigmoidCrossEntropy: {logits: logit, labels: y}]");
    InferenceTower tower(*model, make_reference_device("cpu:0", {}));
    const DataFlow flow = make_flow(
        parse_yaml("- FakeData: {shapes: [[1], [1]], dtype: [float32, float32], names: [x, y], size: 4}\n"
                   "- BatchData: 2",
                   "t.yaml"));
    const Evaluator evaluator("validation", tower.place(), flow, 1, {}, {}, Evaluator::Judged::kSamples);
    ThresholdChoice choice(evaluator);
    const auto samples = std::ssize(labels);
    std::vector<float> logits;
    for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p / (1 - p))));
    const Tensor predictions = Tensor::of<float>({samples, 1}, logits);
    const Tensor targets = Tensor::of<float>({samples, 1}, labels);
    const JudgedBatch batch{evaluator.judgements()[0], predictions, targets, targets};
    choice.see(0, {&batch, 1});
    return choice;
  }
};

TEST_F(ThresholdChoiceTest, finds_the_highest_f1) {
  const ThresholdChoice choice = seen({0.9, 0.4, 0.35, 0.3, 0.1}, {1, 1, 1, 0, 0});
  EXPECT_NEAR(choice.best().threshold, 0.325, 1e-6);
  EXPECT_EQ(choice.best().f1, 1);
  EXPECT_NEAR(choice.at(0.5).f1, 0.5, 1e-12) << "one of three is found: 2 * 1 / (1 + 3)";
  EXPECT_EQ(choice.at(0.5).precision, 1);
  EXPECT_NEAR(choice.to_json()["threshold"].get<double>(), 0.325, 1e-6);
  EXPECT_THAT(choice.str(), testing::HasSubstr("threshold of yes"));
}

TEST_F(ThresholdChoiceTest, leaves_it_at_one_half_where_nothing_is_better) {
  EXPECT_EQ(seen({0.9, 0.1}, {1, 0}).best().threshold, 0.5);
  EXPECT_EQ(seen({0.9, 0.1}, {0, 0}).best().threshold, 0.5);
}

/// A model whose scores are not finite does not get better by it.
TEST_F(ThresholdChoiceTest, counts_scores_that_are_not_finite_as_not_said) {
  const ThresholdChoice choice = seen({0.9, NAN, 0.1}, {1, 1, 0});
  EXPECT_NEAR(choice.best().f1, 2.0 / 3, 1e-12) << "one of two is found";
}

TEST_F(ThresholdChoiceTest, never_divides_samples_of_one_probability) {
  const ThresholdChoice choice = seen({0.25, 0.25, 0.25, 0.125}, {1, 0, 1, 0});
  EXPECT_NEAR(choice.best().threshold, 0.1875, 1e-6);
  EXPECT_NEAR(choice.best().f1, 0.8, 1e-12);
}

}  // namespace
}  // namespace tpack
