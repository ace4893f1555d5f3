#include <cmath>

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

const live::Fields kGradientNoise("gradient processor", "GradientNoise", {.values = {{"variables", "[b]"}}});

/// One large variable, of which the steps of SGD with rate 1 are the noise.
Updates noisy(const std::string& noise) {
  return Updates("SGD: {learning_rate: 1, gradient: [{GradientNoise: " + noise + "}]}", 1, Backend::kCpu,
                 {{"a", {20000}}, {"b", {1}}});
}

/// The mean of squares of the next step.
double variance_of_step(Updates& updates, int64_t step) {
  for (int64_t i = 0; i < 20000; ++i) updates.set("a", i, 0);
  updates.run({.step = step});
  double sum = 0;
  for (int64_t i = 0; i < 20000; ++i) sum += std::pow(updates.value("a", i), 2);
  return sum / 20000;
}

TEST(GradientNoise, has_a_variance_that_decreases_with_the_updates) {
  Updates updates = noisy("{variance: 0.5, decay: 1}");
  for (int step = 0; step < 4; ++step)
    EXPECT_NEAR(variance_of_step(updates, step) * (step + 1), 0.5, 0.02) << step;
  Updates constant = noisy("{variance: 0.5, decay: 0}");
  for (int step = 0; step < 4; ++step) EXPECT_NEAR(variance_of_step(constant, step), 0.5, 0.02) << step;
}

TEST(GradientNoise, depends_on_seed_and_step) {
  const auto value = [](const RunInfo& info) {
    Updates updates("SGD: {gradient: [GradientNoise]}", 1, Backend::kCpu);
    updates.run(info);
    return updates.value("a", 0);
  };
  EXPECT_EQ(value({.seed = 1, .step = 5}), value({.seed = 1, .step = 5}));
  EXPECT_NE(value({.seed = 1, .step = 5}), value({.seed = 2, .step = 5}));
  EXPECT_NE(value({.seed = 1, .step = 5}), value({.seed = 1, .step = 6}));
}

TEST(GradientNoise, leaves_other_variables_and_the_padding_alone) {
  Updates updates("SGD: {gradient: [{GradientNoise: {variables: [b]}}]}", 1, Backend::kCpu);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0);
  EXPECT_NE(updates.value("b", 0), 0);
  const Tensor block = updates.variables().tensor("@parameters");
  for (int64_t i = 3; i < 16; ++i) EXPECT_EQ(block.at(i), 0);
  EXPECT_THROW(Updates("SGD: {gradient: [{GradientNoise: {variables: [c]}}]}"), ConfigError);
}

/// Two processors draw different numbers, and count each update once.
TEST(GradientNoise, may_be_listed_twice) {
  Updates once = noisy("{variance: 0.5, decay: 1}");
  Updates twice(
      "SGD: {learning_rate: 1, gradient: [{GradientNoise: {variance: 0.5, decay: 1}}, "
      "{GradientNoise: {variance: 0.5, decay: 1}}]}",
      1, Backend::kCpu, {{"a", {20000}}, {"b", {1}}});
  for (int step = 0; step < 2; ++step) {
    EXPECT_NEAR(variance_of_step(twice, step), 2 * variance_of_step(once, step), 0.05);
    EXPECT_EQ(twice.value("updates", 0), step + 1);
  }
}

TEST(GradientNoise, continues_with_the_same_bits) {
  const std::string yaml = "Adam: {gradient: [GradientNoise]}";
  Updates whole(yaml);
  for (int step = 0; step < 6; ++step) whole.run({.step = step});
  Updates first(yaml);
  for (int step = 0; step < 3; ++step) first.run({.step = step});
  Updates second(yaml);
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const std::string& name : first.variables().names(scope)) {
      for (int64_t i = 0; i < first.variables().tensor(name).elements(); ++i)
        second.set(name, i, first.value(name, i));
    }
  }
  for (int step = 3; step < 6; ++step) second.run({.step = step});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(second.value("a", i), whole.value("a", i));
  EXPECT_NE(whole.value("a", 0), 0);
}

}  // namespace
}  // namespace tpack
