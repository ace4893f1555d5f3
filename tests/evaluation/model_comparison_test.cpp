#include "evaluation/model_comparison.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "backend/inference_tower.h"
#include "support/small_model.h"

namespace tpack {
namespace {

/// What a model makes of random samples that has these weights in its last layer.
class ModelComparison : public testing::Test {
 protected:
  ComparedSamples compared(double weight, int64_t samples = 200) {
    InferenceTower tower(*model_, make_reference_device("cpu:0", {.float_type = DType::kFloat64}));
    for (double& w : tower.variables().tensor("fc1/W").span<double>()) w = 0;
    tower.variables().tensor("fc1/b").data<double>()[0] = weight;
    const DataFlow flow = small_flow(samples, "- BatchData: {batch_size: 16, remainder: true}");
    Evaluator evaluator("validation", tower.handle(), flow, 1, {}, {}, Evaluator::Detail::kSamples);
    ComparedSamples compared(evaluator);
    evaluator.run_part({}, [&](int64_t n, std::span<const TargetBatch> batch) { compared.see(n, batch); });
    return compared;
  }

  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
};

TEST_F(ModelComparison, a_model_is_as_good_as_itself) {
  for (const ComparedFigure& figure : compare_models(compared(1), compared(1))) {
    EXPECT_EQ(figure.first, figure.second) << figure.name;
    EXPECT_EQ(figure.low, 0);
    EXPECT_EQ(figure.high, 0);
    EXPECT_EQ(figure.verdict(), "noise");
  }
}

/// Labels are random, so a model that is sure of class 0 has a higher cost than one that says nothing.
TEST_F(ModelComparison, says_which_is_better_where_the_interval_is_on_one_side_of_0) {
  const std::vector<ComparedFigure> figures = compare_models(compared(8), compared(0));
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].name, "softmax_cross_entropy");
  EXPECT_LT(figures[0].high, 0);
  EXPECT_LT(figures[0].low, figures[0].second - figures[0].first);
  EXPECT_GT(figures[0].high, figures[0].second - figures[0].first);
  EXPECT_EQ(figures[0].verdict(), "the second is better");
  EXPECT_EQ(figures[1].name, "accuracy");
  EXPECT_EQ(figures[1].verdict(), "noise") << "both say class 0";
  EXPECT_THAT(str(figures), testing::HasSubstr("the second is better"));
  EXPECT_EQ(to_json(figures)["accuracy"]["verdict"], "noise");
  EXPECT_EQ(compare_models(compared(0), compared(8))[0].verdict(), "the first is better");
}

TEST_F(ModelComparison, gives_the_same_interval_each_time) {
  const auto once = compare_models(compared(8), compared(0));
  const auto again = compare_models(compared(8), compared(0));
  EXPECT_EQ(once[0].low, again[0].low);
  EXPECT_EQ(once[0].high, again[0].high);
}

TEST_F(ModelComparison, rejects_models_that_saw_other_samples) {
  EXPECT_THROW(compare_models(compared(1), compared(1, 100)), DataError);
}

}  // namespace
}  // namespace tpack
