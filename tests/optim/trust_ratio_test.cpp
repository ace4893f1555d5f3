#include "optim/trust_ratio.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

constexpr const char* kTrustBase = "{adapt_vectors: true, weight_decay: 0.1}";
const live::Fields kLars("optimizer", "LARS", {.base = kTrustBase, .values = {{"exclude", "[a]"}}});
const live::Fields kLamb("optimizer", "LAMB", {.base = kTrustBase, .values = {{"exclude", "[a]"}}});

const Updates::Shapes kOneMatrix = {{"w", {2, 2}}, {"b", {2}}};

class TrustRatioOn : public testing::TestWithParam<Backend> {
 protected:
  static double tolerance() { return GetParam() == Backend::kCpu ? 1e-6 : 1e-15; }
};

TEST_P(TrustRatioOn, lars_moves_a_matrix_by_a_share_of_its_norm) {
  for (const double size : {1e-12, 1.0, 1e12}) {
    Updates updates("LARS: {learning_rate: 1, trust: 0.01}", 1, GetParam(), kOneMatrix);
    updates.set("w", 0, 3);
    updates.set("w", 3, 4);
    updates.set("@gradient/w", 1, -size);
    updates.run();
    EXPECT_NEAR(updates.value("w", 1), 0.05, tolerance()) << size;
    EXPECT_EQ(updates.value("w", 0), 3);
  }
}

TEST_P(TrustRatioOn, lars_is_momentum_for_vectors) {
  Updates lars("LARS: {learning_rate: 0.1, weight_decay: 0.5}", 1, GetParam(), kOneMatrix);
  Updates momentum("Momentum: {learning_rate: 0.1}", 1, GetParam(), kOneMatrix);
  for (int step = 0; step < 5; ++step) {
    for (Updates* updates : {&lars, &momentum}) {
      updates->set("@gradient/b", 0, std::sin(step));
      updates->run();
    }
    EXPECT_NEAR(lars.value("b", 0), momentum.value("b", 0), tolerance());
  }
}

TEST_P(TrustRatioOn, lamb_moves_a_matrix_by_a_share_of_its_norm) {
  Updates updates("LAMB: {learning_rate: 0.1}", 1, GetParam(), kOneMatrix);
  updates.set("w", 0, 3);
  updates.set("w", 3, 4);
  updates.set("@gradient/w", 1, -2);
  updates.set("@gradient/b", 0, 2);
  updates.run();
  EXPECT_NEAR(updates.value("w", 1), 0.5, tolerance());
  EXPECT_NEAR(updates.value("b", 0), -0.1, 1e-6);
}

TEST_P(TrustRatioOn, a_variable_of_zeros_moves) {
  for (const char* optimizer : {"LARS: {learning_rate: 0.5}", "LAMB: {learning_rate: 0.5}"}) {
    Updates updates(optimizer, 1, GetParam(), kOneMatrix);
    updates.set("@gradient/w", 0, 1);
    updates.run();
    EXPECT_NEAR(updates.value("w", 0), -0.5, 1e-6) << optimizer;
  }
}

TEST_P(TrustRatioOn, an_excluded_variable_has_neither_ratio_nor_decay) {
  for (const char* optimizer : {"LARS: {learning_rate: 0.5, weight_decay: 0.1, exclude: [w]}",
                                "LAMB: {learning_rate: 0.5, weight_decay: 0.1, exclude: [w]}"}) {
    Updates updates(optimizer, 1, GetParam(), kOneMatrix);
    updates.set("w", 0, 3);
    updates.set("w", 1, 3);
    updates.set("@gradient/w", 0, 1);
    updates.run();
    EXPECT_NEAR(updates.value("w", 0), 2.5, 1e-6) << optimizer;
    EXPECT_EQ(updates.value("w", 1), 3) << optimizer;
  }
}

INSTANTIATE_TEST_SUITE_P(On, TrustRatioOn, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

/// Large enough that the threads share the sums.
TEST(TrustRatios, have_the_same_bits_on_any_number_of_threads) {
  for (const char* optimizer :
       {"LARS: {weight_decay: 0.1}", "LAMB: {weight_decay: 0.1}", "LAMB: {gradient: [GlobalNormClip: 1]}"}) {
    const auto after_steps = [&](int threads) {
      Updates updates(optimizer, 1, Backend::kCpu, {{"v", {321, 311}}, {"b", {7}}, {"w", {5, 13}}}, threads);
      for (int64_t i = 0; i < 321 * 311; ++i) updates.set("v", i, std::sin(0.1 * static_cast<double>(i)));
      for (int64_t i = 0; i < 65; ++i) updates.set("w", i, std::cos(static_cast<double>(i)));
      for (int step = 0; step < 3; ++step) {
        for (int64_t i = 0; i < 321 * 311; ++i)
          updates.set("@gradient/v", i, std::sin(0.7 * static_cast<double>(i + step)));
        for (int64_t i = 0; i < 65; ++i)
          updates.set("@gradient/w", i, std::cos(static_cast<double>(i * step)));
        updates.run();
      }
      std::vector<double> values;
      for (const char* name : {"v", "w"}) {
        const Tensor tensor = updates.variables().tensor(name);
        for (int64_t i = 0; i < tensor.elements(); ++i) values.push_back(tensor.at(i));
      }
      return values;
    };
    const std::vector<double> one = after_steps(1);
    EXPECT_NE(one.front(), 0);
    EXPECT_TRUE(one == after_steps(2)) << optimizer;
    EXPECT_TRUE(one == after_steps(3)) << optimizer;
  }
}

/// Two norms of both kinds, the ratio of each variable, its elements, and the step.
TEST(TrustRatios, need_few_kernels_for_any_number_of_variables) {
  const auto kernels = [](const std::string& yaml, const Updates::Shapes& shapes) {
    return Updates(yaml, 0.5, Backend::kCpu, shapes).kernels();
  };
  const Updates::Shapes many = {{"a", {3, 2}}, {"b", {2}}, {"c", {2, 2}}, {"d", {5}}, {"e", {3, 3}}};
  for (const char* optimizer : {"LARS: {weight_decay: 0.1}", "LAMB: {weight_decay: 0.1}"})
    EXPECT_EQ(kernels(optimizer, many), kernels(optimizer, kOneMatrix)) << optimizer;
}

}  // namespace
}  // namespace tpack
