// Costs of scores and predictions that are far from what they should be.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/text.h"
#include "layers/cost_function.h"
#include "tensor/finite.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

/// The outputs that examples of costs name, where predictions differ from what they should be by `difference`
/// and scores from each other: of two samples each, of which one has the best class. An action that is likely
/// now was as unlikely when it was chosen.
std::pair<std::vector<std::string>, std::vector<Tensor>> outputs_with(double difference) {
  const Tensor scores = Tensor::of<double>({2, 3}, {difference, 0, 0.5, 0.25, difference, 0});
  const Tensor classes = Tensor::of<int32_t>({2}, {0, 2});
  const Tensor predictions = Tensor::of<double>({2}, {0.5 + difference, 0.25 - difference});
  const Tensor targets = Tensor::of<double>({2}, {0.5, 0.25});
  const Tensor advantages = Tensor::of<double>({2}, {1.5, -0.5});
  const Tensor log_probabilities =
      Tensor::of<double>({2}, {-1.25 - std::max(difference, 0.0), -0.75 + std::min(difference, 0.0)});
  const Tensor probabilities = Tensor::of<double>({2, 3}, {0.5, 0.25, 0.25, 0, 1, 0});
  // Distances that differ from each other.
  const Tensor face =
      Tensor::of<double>({4, 3}, {difference, 0, 0.5, 0.25, difference, difference / 2,  //
                                  -difference, 1, difference / 4, 2 + difference / 2, 1, difference});
  const Tensor person = Tensor::of<int32_t>({4}, {0, 1, 0, 1});
  return {{"logits",  "policy",    "label",           "action",    "price",  "true_price", "real",
           "fake",    "advantage", "log_probability", "log_count", "count",  "embedding",  "true_embedding",
           "teacher", "borders",   "grade",           "face",      "person", "left",       "right",
           "match"},
          {scores,        scores,     classes,           classes,     predictions, targets, predictions,
           predictions,   advantages, log_probabilities, predictions, targets,     scores,  probabilities,
           probabilities, scores,     classes,           face,        person,      scores,  probabilities,
           targets}};
}

/// A cost of these outputs, and of weights that are as large.
testkit::Function with_weights_of(double size, const testkit::Function& cost) {
  return [size, cost](Builder& b, std::span<const Symbol> in) {
    const auto fill = [size](const Tensor& value, Rng& /*rng*/) {
      visit(value.dtype(), [&](auto zero) {
        using T = decltype(zero);
        std::fill(value.span<T>().begin(), value.span<T>().end(), static_cast<T>(size));
      });
    };
    b.variable({"fc/W", {b.float_type(), {2}}, VariableScope::kModel, true, fill});
    return cost(b, in);
  };
}

/// The largest difference of two tensors, relative to the largest element; what is near the smallest floats
/// counts as 0.
double error_of(const Tensor& value, const Tensor& exact) {
  double largest = 1e-30;
  double error = 0;
  for (int64_t i = 0; i < exact.elements(); ++i) {
    largest = std::max(largest, std::abs(exact.at(i)));
    error = std::max(error, std::abs(value.at(i) - exact.at(i)));
  }
  return error / largest;
}

class EachCost : public testing::TestWithParam<std::string> {};

/// The cost and its gradients.
TEST_P(EachCost, is_finite_and_exact_far_from_what_it_should_be) {
  const std::string item = Registry<Cost>::table().at(GetParam(), {}).example();
  for (const double difference : {0.0, 1e2, -1e2, 1e4, -1e4}) {
    if (GetParam() == "Poisson" && difference != 0) continue;  // exp(100) is no float
    const auto [names, values] = outputs_with(difference);
    const testkit::Function cost = with_weights_of(difference, function_of_outputs<Cost>(item, names));
    const std::vector<Tensor> exact =
        testkit::evaluate(testkit::with_gradients(cost), values, DType::kFloat64);
    const std::vector<Tensor> computed = testkit::evaluate_on_cpu(cost, values, {});  // and all variables
    ASSERT_GE(exact.size(), 2U);
    ASSERT_GE(computed.size(), exact.size());
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_TRUE(all_finite(exact[i])) << item << ", " << i << " at " << difference;
      EXPECT_TRUE(all_finite(computed[i])) << item << ", " << i << " at " << difference;
      EXPECT_LT(error_of(computed[i], exact[i]), 1e-6) << item << ", " << i << " at " << difference;
    }
  }
}

std::vector<std::string> costs() {
  std::vector<std::string> names;
  for (const ComponentInfo* info : Registry<Cost>::table().list()) names.push_back(info->name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EachCost, testing::ValuesIn(costs()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tpack
