#include "costs/regression.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/cost_function.h"

namespace tpack {
namespace {

using Values = std::vector<double>;

/// Predictions and targets as tensors [N, 1] and [N].
std::vector<Tensor> pairs(const Values& predictions, const Values& targets) {
  const auto samples = static_cast<int64_t>(targets.size());
  return {Tensor::of({samples, 1}, predictions), Tensor::of({samples}, targets)};
}

double cost(const std::string& type, const Values& predictions, const Values& targets) {
  const auto function = function_of_outputs<Cost>(type + ": {predictions: p, targets: t}", {"p", "t"});
  return testkit::evaluate(function, pairs(predictions, targets), DType::kFloat64)[0].at(0);
}

TEST(CostsOfRegression, are_means_over_samples) {
  EXPECT_DOUBLE_EQ(cost("MeanSquaredError", {1, 2, 5}, {1, 4, 2}), (0 + 4 + 9) / 3.0);
  EXPECT_DOUBLE_EQ(cost("MeanAbsoluteError", {1, 2, 5}, {1, 4, 2}), (0 + 2 + 3) / 3.0);
  EXPECT_DOUBLE_EQ(cost("Huber", {1, 2.5, 5}, {1, 2, 2}), (0 + 0.125 + 2.5) / 3.0);
}

TEST(CostsOfRegression, have_a_range_of_their_fields) {
  EXPECT_THAT(complaint_of<Cost>("Quantile: {predictions: p, targets: 1, quantile: 0}", {}, {}),
              testing::HasSubstr("'quantile' of Quantile is 0; must be above 0 and below 1"));
  EXPECT_THAT(complaint_of<Cost>("Quantile: {predictions: p, targets: 1, quantile: 2}", {}, {}),
              testing::HasSubstr("must be from 0 to 1"));
}

/// The quantile of the targets has the smallest cost.
TEST(Quantile, is_least_where_its_share_of_targets_is_below) {
  const auto cost_of_guess = [](double guess) {
    const auto function =
        function_of_outputs<Cost>("Quantile: {predictions: p, targets: t, quantile: 0.9}", {"p", "t"});
    Values targets;
    for (int i = 1; i <= 99; ++i) targets.push_back(i);
    return testkit::evaluate(function, pairs(Values(99, guess), targets), DType::kFloat64)[0].at(0);
  };
  for (const double guess : {1.0, 50.0, 89.0, 89.5, 90.5, 91.0, 99.0})
    EXPECT_LT(cost_of_guess(90), cost_of_guess(guess)) << guess;
}

TEST(CostsOfRegression, have_the_gradient_of_their_value) {
  const std::vector<Tensor> values = pairs({1, 2.3, 5, -1}, {1.2, 2, 2, 3});
  for (const char* type :
       {"MeanSquaredError", "MeanAbsoluteError", "Huber", "Quantile", "MeanAbsolutePercentageError"}) {
    for (const char* targets : {"t", "0.7"}) {
      const auto function = function_of_outputs<Cost>(
          std::string(type) + ": {predictions: p, targets: " + targets + "}", {"p", "t"});
      EXPECT_TRUE(testkit::check_gradients(function, values).ok) << type;
      EXPECT_TRUE(testkit::check_second_gradients(function, values, {.tolerance = 1e-5}).ok) << type;
    }
  }
}

TEST(CostsOfRegression, take_whole_numbers) {
  const auto function =
      function_of_outputs<Cost>("MeanSquaredError: {predictions: p, targets: t}", {"p", "t"});
  const std::vector<Tensor> values = {Tensor::of<double>({2, 1}, {1, 2}), Tensor::of<int32_t>({2}, {3, 5})};
  EXPECT_DOUBLE_EQ(testkit::evaluate(function, values, DType::kFloat64)[0].at(0), 6.5);
}

TEST(CostsOfRegression, need_one_target_for_each_prediction) {
  EXPECT_EQ(complaint_of<Cost>("MeanSquaredError: {predictions: p, targets: t}", {"p", "t"},
                               {Tensor::of<double>({2, 3}, Values(6)), Tensor::of<double>({2}, Values(2))}),
            "cost.yaml:1:45: output t has shape [2], but Input has [2, 3]; they must be the same, except "
            "for axes of size 1; give the layer of the output 1 unit");
  EXPECT_EQ(complaint_of<Cost>("Huber: {predictions: prise, targets: 1}", {"price"},
                               {Tensor::of<double>({2}, Values(2))}),
            "cost.yaml:1:22: unknown layer or input 'prise'; did you mean 'price'?");
  EXPECT_THAT(complaint_of<Cost>("Huber: {predictions: p, targets: 1, delta: 0}", {}, {}),
              testing::HasSubstr("'delta' of cost Huber is 0; must be above 0"));
}

TEST(MetricsOfRegression, count_elements) {
  for (const auto& [type, sum] : {std::pair("MeanSquaredError", 5), std::pair("MeanAbsoluteError", 3)}) {
    const auto function =
        function_of_outputs<Metric>(std::string(type) + ": {predictions: p, targets: 1}", {"p"});
    const auto figure =
        testkit::evaluate(function, {Tensor::of<double>({2, 2}, {1, 3, 2, 1})}, DType::kFloat32);
    EXPECT_EQ(figure[0].at(0), sum);
    EXPECT_EQ(figure[1].at(0), 4);
  }
}

/// R2 of samples that come in batches of these sizes.
double r2(const Tensor& predictions, const Tensor& targets, const std::vector<int64_t>& batches,
          DType type = DType::kFloat64) {
  const int64_t outputs = targets.elements() / targets.shape()[0];
  const std::shared_ptr<const Metric> metric =
      Registry<Metric>::make_item(parse_yaml("R2: {predictions: p, targets: t}", "m.yaml"));
  std::optional<Tally> tally;
  const testkit::Function function = [&](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
    NetworkBuilder network(b);
    network.add_output("p", in[0]);
    network.add_output("t", in[1]);
    const SumAndWeight figure = metric->build(ModelView(b, network));
    if (!tally) tally.emplace(Statistic{"r2", figure.sum, figure.weight, "", figure.accumulation});
    return {figure.sum, figure.weight};
  };
  int64_t begin = 0;
  for (const int64_t size : batches) {
    const auto part = [&](const Tensor& all) {
      std::vector<double> values;
      for (int64_t i = begin * outputs; i < (begin + size) * outputs; ++i) values.push_back(all.at(i));
      return Tensor::of({size, outputs}, values).cast(type);
    };
    const std::vector<Tensor> fetched = testkit::evaluate(function, {part(predictions), part(targets)}, type);
    tally->add(fetched[0], fetched[1]);
    begin += size;
  }
  return tally->value();
}

double r2(const Values& predictions, const Values& targets) {
  const auto samples = static_cast<int64_t>(targets.size());
  return r2(Tensor::of({samples}, predictions), Tensor::of({samples}, targets), {samples});
}

/// The examples in the documentation of sklearn.metrics.r2_score.
TEST(R2, is_that_of_scikit_learn) {
  EXPECT_NEAR(r2({2.5, 0.0, 2, 8}, {3, -0.5, 2, 7}), 0.948608137, 1e-9);
  EXPECT_DOUBLE_EQ(r2({1, 2, 3}, {1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(r2({2, 2, 2}, {1, 2, 3}), 0);
  EXPECT_DOUBLE_EQ(r2({3, 2, 1}, {1, 2, 3}), -3);
  EXPECT_EQ(r2({-2, -2, -2}, {-2, -2, -2}), 1);
  EXPECT_EQ(r2({-2, -2, -2 + 1e-8}, {-2, -2, -2}), 0);
  const Tensor targets = Tensor::of<double>({3, 2}, {0.5, 1, -1, 1, 7, -6});
  const Tensor predictions = Tensor::of<double>({3, 2}, {0, 2, -1, 2, 8, -5});
  const double first = 1 - (0.25 + 0 + 1) / (49 + 1 + 0.25 - 6.5 * 6.5 / 3);
  const double second = 1 - (1 + 1 + 1) / (1 + 1 + 36 - 4 * 4 / 3.0);
  EXPECT_NEAR(r2(predictions, targets, {3}), (first + second) / 2, 1e-15);
}

TEST(R2, is_the_same_for_any_batches) {
  const Tensor targets = testkit::random_tensor({12, 3}, 1);
  const Tensor predictions = testkit::random_tensor({12, 3}, 2);
  const double whole = r2(predictions, targets, {12});
  for (const std::vector<int64_t>& batches : {std::vector<int64_t>{4, 4, 4}, {5, 5, 2}, {1, 10, 1}})
    EXPECT_NEAR(r2(predictions, targets, batches), whole, 1e-13);
}

/// The variance of years is a millionth of their square.
TEST(R2, keeps_its_digits_in_single_precision_if_the_mean_is_large) {
  Values years;
  Values guesses;
  for (int i = 0; i < 40; ++i) {
    years.push_back(2000 + i % 5);
    guesses.push_back(2000 + (i * 7) % 5);
  }
  const Tensor targets = Tensor::of({40}, years);
  const Tensor predictions = Tensor::of({40}, guesses);
  const double exact = r2(predictions, targets, {40});
  EXPECT_NEAR(r2(predictions, targets, {16, 16, 8}, DType::kFloat32), exact, 1e-5 * std::abs(exact));
}

TEST(R2, shows_what_is_no_number) { EXPECT_TRUE(std::isnan(r2({NAN, 1, 2}, {1, 1, 1}))); }

TEST(R2, needs_outputs_of_samples) {
  EXPECT_THAT(complaint_of<Metric>("R2: {predictions: p, targets: p}", {"p"}, {Tensor::of<double>({}, {1})}),
              testing::HasSubstr("cost.yaml:1:19: metric R2: output p is one number"));
}

}  // namespace
}  // namespace tpack
