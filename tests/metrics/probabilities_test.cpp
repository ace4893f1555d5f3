#include "metrics/probabilities.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/layer_cases.h"
#include "layers/metric_value.h"
#include "support/small_model.h"

namespace tpack {
namespace {

double of_answers(const std::string& metric, const std::vector<double>& logits,
                  const std::vector<int32_t>& labels) {
  const auto samples = static_cast<int64_t>(labels.size());
  return MetricOfSamples{
      metric, {"logits", "label"}, {Tensor::of({samples, 1}, logits), Tensor::of({samples}, labels)}}
      .value();
}

/// The probability of half of the samples is 1/2, the upper end of a bin.
TEST(CalibrationError, puts_the_upper_end_of_a_bin_into_it) {
  const std::vector<double> logits = {0, 0, -std::log(3), -std::log(3)};  // 1/2 and 1/4
  const std::string metric = "CalibrationError: {logits: logits, labels: label, bins: ";
  // In one bin, one yes too many and one too few cancel.
  EXPECT_NEAR(of_answers(metric + "2}", logits, {1, 1, 0, 0}), std::abs(1.5 - 2) / 4, 1e-15);
  EXPECT_NEAR(of_answers(metric + "4}", logits, {1, 1, 0, 0}), (1 + 0.5) / 4, 1e-15);
  EXPECT_NEAR(of_answers(metric + "3}", logits, {1, 1, 0, 0}), (1 + 0.5) / 4, 1e-15);
}

TEST(CalibrationError, has_a_bin_for_certain_answers) {
  const std::string metric = "CalibrationError: {logits: logits, labels: label}";
  EXPECT_EQ(of_answers(metric, {1000, -1000}, {1, 0}), 0);
  EXPECT_EQ(of_answers(metric, {1000, -1000}, {0, 1}), 1);
  EXPECT_TRUE(std::isnan(of_answers(metric, {NAN, 0}, {0, 1})));
}

TEST(Brier, is_that_of_the_documentation_of_scikit_learn) {
  std::vector<double> logits;
  for (const double p : {0.1, 0.9, 0.8, 0.3}) logits.push_back(std::log(p / (1 - p)));
  EXPECT_NEAR(of_answers("Brier: {logits: logits, labels: label}", logits, {0, 1, 1, 0}), 0.0375, 1e-15);
  EXPECT_TRUE(std::isnan(of_answers("Brier: {logits: logits, labels: label}", {NAN, 0}, {0, 1})));
}

/// The parts of a metric of a model whose layer is the last one.
std::vector<Tensor> parts_of(const std::string& layer, const std::string& labels, const std::string& metric) {
  const auto model =
      model_of("inputs: {x: {shape: [2]}, label: " + labels + "}\nlayers: [Identity: {name: z}, " + layer +
               "]\ncost: [MeanSquaredError: {predictions: z, targets: 0}]\nmetrics: [" + metric + "]");
  const bool are_classes = labels.find("int32") != std::string::npos;
  return testkit::evaluate(
      [&](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
        const Statistic statistic = model->build(b, {{"x", in[0]}, {"label", in[1]}}).statistics.back();
        return {statistic.sum, statistic.weight};
      },
      {Tensor::of<double>({3, 2}, {1, 2, 0.5, -1, 0, 3}),
       are_classes ? Tensor::of<int32_t>({3}, {1, 0, 0}) : Tensor::of<double>({3, 2}, {1, 0, 0, 1, 1, 1})},
      DType::kFloat64);
}

TEST(Probabilities, are_the_same_before_and_after_the_layer_that_makes_them) {
  for (const char* metric : {"Brier", "CalibrationError"}) {
    for (const auto& one :
         {std::pair<std::string, std::string>("Softmax: {name: p}", "{shape: [], dtype: int32}"),
          {"Sigmoid: {name: p}", "{shape: [2]}"}}) {
      const auto of = [&](const char* output) {
        return parts_of(one.first, one.second,
                        std::string(metric) + ": {logits: " + output + ", labels: label}");
      };
      const std::vector<Tensor> before = of("z");
      const std::vector<Tensor> after = of("p");
      for (size_t i = 0; i < 2; ++i) {
        for (int64_t k = 0; k < before[i].elements(); ++k)
          EXPECT_NEAR(before[i].at(k), after[i].at(k), 1e-15) << metric << one.first;
      }
    }
  }
}

}  // namespace
}  // namespace tpack
