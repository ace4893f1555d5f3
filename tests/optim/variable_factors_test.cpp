#include "optim/variable_factors.h"

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"

namespace tpack {
namespace {

using testing::HasSubstr;

class VariableFactors : public testing::TestWithParam<Backend> {};

/// After a first step of SGD with the rate 1, a parameter is minus its gradient times the multiplier.
TEST_P(VariableFactors, multiply_the_learning_rate_where_the_first_pattern_matches) {
  Updates updates("SGD: {learning_rate: 1, learning_rate_multipliers: {b: 4, \".*\": 0.25}}", 1, GetParam());
  for (int i = 0; i < 3; ++i) updates.set("@gradient/a", i, 1);
  for (int i = 0; i < 2; ++i) updates.set("@gradient/b", i, 1);
  updates.run();
  EXPECT_EQ(updates.value("a", 2), -0.25);
  EXPECT_EQ(updates.value("b", 0), -4);
  EXPECT_EQ(updates.value("b", 1), -4);
}

/// The first step of Adam does not depend on the size of the gradient, but on the learning rate.
TEST_P(VariableFactors, of_the_rate_multiply_the_step_of_adam) {
  Updates updates("Adam: {learning_rate: 0.5, epsilon: 1.0e-30, learning_rate_multipliers: {a: 2}}", 1,
                  GetParam());
  updates.set("@gradient/a", 0, 1.0e-3);
  updates.set("@gradient/b", 0, -7);
  updates.run();
  EXPECT_NEAR(updates.value("a", 0), -1, 1e-6);
  EXPECT_NEAR(updates.value("b", 0), 0.5, 1e-6);
}

TEST_P(VariableFactors, of_the_rate_multiply_weight_decay_too) {
  Updates updates("AdamW: {learning_rate: 0.5, weight_decay: 0.5, learning_rate_multipliers: {a: 2}}", 1,
                  GetParam());
  updates.set("a", 0, 1);
  updates.set("b", 0, 1);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0.5);
  EXPECT_EQ(updates.value("b", 0), 0.75);
}

TEST_P(VariableFactors, follow_a_rate_that_is_set) {
  Updates updates("SGD: {learning_rate: 1, learning_rate_multipliers: {a: 2}}", 1, GetParam());
  updates.set("learning_rate", 0, 0.25);
  updates.set("@gradient/a", 0, 1);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), -0.5);
}

INSTANTIATE_TEST_SUITE_P(On, VariableFactors, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

std::string rejection(const std::string& optimizer) {
  try {
    Updates made(optimizer);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(VariableFactorsErrors, name_patterns_without_effect) {
  EXPECT_THAT(rejection("SGD: {learning_rate_multipliers: {aa: 2}}"),
              HasSubstr("o.yaml:1:35: 'learning_rate_multipliers': no trained variable matches 'aa'"));
  EXPECT_THAT(rejection("SGD: {learning_rate_multipliers: {\"[ab]\": 2, b: 3}}"),
              HasSubstr("o.yaml:1:46: 'learning_rate_multipliers': 'b' has no effect: patterns before it "
                        "match the same variables; move it before them"));
  EXPECT_THAT(rejection("SGD: {gradient: [{ScaleGradient: {factors: {c: 2}}}]}"),
              HasSubstr("'factors' of gradient processor ScaleGradient: no trained variable matches 'c'"));
  EXPECT_THAT(rejection("SGD: {learning_rate_multipliers: {\"a(\": 2}}"), HasSubstr("o.yaml:1:35: "));
}

TEST(VariableFactorsErrors, name_factors_that_are_no_factors) {
  EXPECT_THAT(rejection("SGD: {learning_rate_multipliers: {a: 0}}"),
              HasSubstr("o.yaml:1:38: 'learning_rate_multipliers' of optimizer SGD: the factor of 'a' is 0; "
                        "must be above 0; to keep variables constant, use `freeze`"));
  EXPECT_THAT(rejection("SGD: {learning_rate_multipliers: {a: fast}}"), HasSubstr("expected a number"));
  EXPECT_THAT(rejection("SGD: {learning_rate_multipliers: [a]}"), HasSubstr("expected a map of factors"));
}

TEST(VariableFactorsConfig, is_dumped_as_it_was_read) {
  const std::string text = "{b: 4.0, \".*/W\": 0.5}";
  Diagnostics errors;
  Reader reader("'factors'", {}, errors);
  const ConfigNode node = parse_yaml(text, "f.yaml");
  const auto factors = Codec<tpack::VariableFactors>::parse(node, reader);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->of("b"), 4);
  EXPECT_EQ(factors->of("fc/W"), 0.5);
  EXPECT_EQ(factors->of("fc/b"), 1);
  EXPECT_TRUE(Codec<tpack::VariableFactors>::dump(*factors).same_value(node));
}

}  // namespace
}  // namespace tpack
