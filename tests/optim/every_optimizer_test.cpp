// What holds for every optimizer: parameters without gradients, tiny and huge gradients, resume.
#include <cmath>

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"

namespace tpack {
namespace {

/// Each optimizer as in its example, and in the forms that store something else.
std::vector<std::string> all_optimizers() {
  std::vector<std::string> all = {"Adam: {amsgrad: true}",
                                  "RMSProp: {momentum: 0.9, centered: true}",
                                  "Lion: {weight_decay: 0.1, exclude: [b]}",
                                  "Momentum: {decoupled_weight_decay: 0.1, exclude: [b]}",
                                  "SGD: {gradient: [{VariableNormClip: 1}]}",
                                  "LARS: {adapt_vectors: true, weight_decay: 0.1}",
                                  "LAMB: {adapt_vectors: true, weight_decay: 0.1, exclude: [b]}",
                                  "Momentum: {lookahead: {}}",
                                  "Adam: {lookahead: {steps: 3, alpha: 0.8}, clip_variables: 0.4}"};
  for (const ComponentInfo* info : Registry<Optimizer>::table().list()) all.push_back(info->example());
  return all;
}

/// The gradients of step `step`: of changing size and sign, sometimes zero.
void set_gradients(Updates& updates, int step) {
  const double size = step % 7 == 3 ? 0 : std::pow(10, step % 5 - 3);
  for (int i = 0; i < 3; ++i) updates.set("@gradient/a", i, size * std::sin(0.9 * step + i));
  for (int i = 0; i < 2; ++i) updates.set("@gradient/b", i, size * std::cos(1.3 * step + i));
}

void set_parameters(Updates& updates) {
  for (int i = 0; i < 3; ++i) updates.set("a", i, 0.3 * i - 0.2);
  for (int i = 0; i < 2; ++i) updates.set("b", i, 0.5 - i);
}

/// All numbers that a checkpoint has, by name.
std::map<std::string, std::vector<double>> content_of(const Updates& updates) {
  std::map<std::string, std::vector<double>> content;
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const std::string& name : updates.variables().names(scope)) {
      const Tensor tensor = updates.variables().tensor(name);
      for (int64_t i = 0; i < tensor.elements(); ++i) content[name].push_back(tensor.at(i));
    }
  }
  return content;
}

class EveryOptimizer : public testing::TestWithParam<std::string> {};

TEST_P(EveryOptimizer, continues_with_the_same_bits_from_what_it_stores) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    Updates whole(GetParam(), 1, backend);
    Updates before(GetParam(), 1, backend);
    Updates after(GetParam(), 1, backend);
    set_parameters(whole);
    set_parameters(before);
    for (int step = 0; step < 50; ++step) {
      Updates& part = step < 23 ? before : after;
      if (step == 23) {
        for (const auto& [name, values] : content_of(before)) {
          for (size_t i = 0; i < values.size(); ++i) after.set(name, static_cast<int64_t>(i), values[i]);
        }
      }
      for (Updates* updates : {&whole, &part}) {
        set_gradients(*updates, step);
        updates->run({.step = step});
      }
    }
    EXPECT_EQ(content_of(after), content_of(whole));
  }
}

/// Weight decay of zeros is zero, too.
TEST_P(EveryOptimizer, leaves_zeros_without_gradients_alone) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    Updates updates(GetParam(), 1, backend);
    for (int step = 0; step < 3; ++step) updates.run();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(updates.value("a", i), 0);
  }
}

TEST_P(EveryOptimizer, moves_against_the_first_gradient) {
  for (const double gradient : {1e-4, 1.0, 1e4}) {
    Updates updates(GetParam(), 1, Backend::kCpu);
    updates.set("@gradient/a", 0, gradient);
    updates.set("@gradient/a", 1, -gradient);
    updates.run();
    EXPECT_LT(updates.value("a", 0), 0) << gradient;
    EXPECT_EQ(updates.value("a", 1), -updates.value("a", 0)) << gradient;
    EXPECT_EQ(updates.value("a", 2), 0) << gradient;
  }
}

TEST_P(EveryOptimizer, stays_finite_after_gradients_of_any_size) {
  Updates updates(GetParam(), 1, Backend::kCpu);
  set_parameters(updates);
  for (const double size : {0.0, 1e-30, 1e-12, 0.0, 1e15, 1e-20, 0.0, 1.0}) {
    for (int i = 0; i < 3; ++i) updates.set("@gradient/a", i, i == 1 ? -size : size);
    updates.run();
    for (const auto& [name, values] : content_of(updates)) {
      for (const double value : values) EXPECT_TRUE(std::isfinite(value)) << name << " after " << size;
    }
  }
}

/// The block of parameters is compared between replicas and written to other layouts: nothing is between its
/// variables.
TEST_P(EveryOptimizer, leaves_zeros_between_variables) {
  Updates updates(GetParam(), 1, Backend::kCpu);
  set_parameters(updates);
  for (int step = 0; step < 5; ++step) {
    set_gradients(updates, step);
    updates.run({.step = step});
  }
  for (const std::string& name : updates.blocks()) {
    const Tensor block = updates.variables().tensor(name);
    for (int64_t i = 3; i < 16; ++i) EXPECT_EQ(block.at(i), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer, testing::ValuesIn(all_optimizers()),
                         [](const auto& param) {
                           std::string name = std::to_string(param.index) + "_";
                           for (const char c : param.param.substr(0, param.param.find(':'))) name += c;
                           return name;
                         });

/// The size of the gradient does not matter.
TEST(Lion, moves_each_parameter_by_the_learning_rate) {
  Updates updates("Lion: {learning_rate: 0.25}");
  updates.set("@gradient/a", 0, 1e-20);
  updates.set("@gradient/a", 1, -1e20);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), -0.25);
  EXPECT_EQ(updates.value("a", 1), 0.25);
  EXPECT_EQ(updates.value("a", 2), 0);
}

TEST(Lion, shows_a_gradient_that_is_no_number) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    Updates updates("Lion", 1, backend);
    updates.set("@gradient/a", 0, std::nan(""));
    updates.run();
    EXPECT_TRUE(std::isnan(updates.value("a", 0)));
    EXPECT_EQ(updates.value("a", 1), 0);
  }
}

TEST(Lion, does_not_decay_what_is_excluded) {
  Updates updates("Lion: {learning_rate: 0.5, weight_decay: 0.5, exclude: [b]}");
  updates.set("a", 0, 1);
  updates.set("b", 0, 1);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0.75);
  EXPECT_EQ(updates.value("b", 0), 1);
}

/// Without gradients only the decay is left, whatever the momentum.
TEST(DecoupledDecay, is_not_part_of_the_momentum) {
  Updates updates("Momentum: {learning_rate: 0.5, decoupled_weight_decay: 0.5}");
  updates.set("a", 0, 1);
  updates.run();
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0.75 * 0.75);
  EXPECT_EQ(updates.value("@momentum/a", 0), 0);
}

TEST(DecoupledDecay, names_variables_that_do_not_exist) {
  for (const char* optimizer : {"SGD: {exclude: [c]}", "Momentum: {exclude: [c]}", "Lion: {exclude: [c]}",
                                "AdamW: {exclude: [c]}", "LARS: {exclude: [c]}", "LAMB: {exclude: [c]}"})
    EXPECT_THROW(Updates{optimizer}, ConfigError) << optimizer;
}

TEST(Optimizers, reject_means_that_forget_nothing) {
  for (const char* optimizer : {"Adadelta: {decay: 1}", "Adamax: {beta1: 1}", "NAdam: {beta2: 1}",
                                "RAdam: {beta2: 1}", "Lion: {beta2: 1}", "LAMB: {beta1: 1}"})
    EXPECT_THROW(Updates{optimizer}, ConfigError) << optimizer;
}

}  // namespace
}  // namespace tpack
