#include "evaluation/threshold_choice.h"

#include <cmath>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "backend/inference_tower.h"
#include "support/small_model.h"

namespace tpack {
namespace {

/// A model whose logit of yes is its input.
class ThresholdChoiceTest : public testing::Test {
 protected:
  ThresholdChoice seen(const std::vector<double>& probabilities, const std::vector<float>& labels,
                       const std::string& goal = "f1") {
    const auto model = model_of(
        "inputs: {x: {shape: [1]}, y: {shape: [1]}}\nlayers: [Identity: {name: logit, input: x}]\n"
        "cost: [SigmoidCrossEntropy: {logits: logit, labels: y}]");
    InferenceTower tower(*model, make_reference_device("cpu:0", {}));
    const DataFlow flow = make_flow(
        parse_yaml("- FakeData: {shapes: [[1], [1]], dtype: [float32, float32], names: [x, y], size: 4}\n"
                   "- BatchData: 2",
                   "t.yaml"));
    const Evaluator evaluator("validation", tower.handle(), flow, 1, {}, {}, Evaluator::Detail::kSamples);
    ThresholdChoice choice(evaluator, ThresholdGoal::parse(goal));
    const auto samples = std::ssize(labels);
    std::vector<float> logits;
    for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p / (1 - p))));
    const Tensor predictions = Tensor::of<float>({samples, 1}, logits);
    const Tensor targets = Tensor::of<float>({samples, 1}, labels);
    const TargetBatch batch{evaluator.targets()[0], predictions, targets, targets};
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

/// Of 0.9 yes, 0.8 no, 0.6 yes, 0.4 no, 0.3 yes, 0.1 no.
TEST_F(ThresholdChoiceTest, is_for_a_recall_a_precision_or_a_cost) {
  const auto best = [&](const std::string& goal) {
    return seen({0.9, 0.8, 0.6, 0.4, 0.3, 0.1}, {1, 0, 1, 0, 1, 0}, goal).best();
  };
  EXPECT_NEAR(best("recall=0.6").threshold, 0.5, 1e-6) << "2 of 3 yes are found; 0.66 precise";
  EXPECT_NEAR(best("recall=0.7").threshold, 0.2, 1e-6);
  EXPECT_NEAR(best("recall=0.3").precision, 1, 1e-12);
  EXPECT_NEAR(best("precision=0.9").threshold, 0.85, 1e-6);
  EXPECT_NEAR(best("precision=0.6").recall, 1, 1e-12) << "3 of 5 are right at 0.2";
  EXPECT_NEAR(best("cost=4").threshold, 0.2, 1e-6) << "two false alarms cost less than one missed";
  EXPECT_NEAR(best("cost=4").cost, 2, 1e-12);
  EXPECT_NEAR(best("cost=0.1").threshold, 0.85, 1e-6) << "0.2 for two missed";
  EXPECT_NEAR(best("cost=0.1").cost, 0.2, 1e-12);
}

TEST_F(ThresholdChoiceTest, says_what_it_cannot_choose) {
  EXPECT_THROW(seen({0.9, 0.1}, {0, 1}, "precision=0.9").best(), DataError);
  EXPECT_THROW(seen({0.9, 0.1}, {0, 0}, "recall=0.9").best(), DataError);
  for (const char* goal : {"", "f2", "recall", "recall=", "recall=x", "recall=0", "recall=1.1", "cost=-1"})
    EXPECT_THROW(ThresholdGoal::parse(goal), ConfigError) << goal;
}

}  // namespace
}  // namespace tpack
