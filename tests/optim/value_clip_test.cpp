#include <gtest/gtest.h>

#include "optim/updates.h"

namespace tpack {
namespace {

class ValueClip : public testing::TestWithParam<Backend> {};

TEST_P(ValueClip, limits_each_element_alone) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{ValueClip: 0.5}]}", 1, GetParam());
  updates.set("@gradient/a", 0, 3);
  updates.set("@gradient/a", 1, -0.75);
  updates.set("@gradient/a", 2, 0.25);
  updates.set("@gradient/b", 0, -0.5);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), -0.5);
  EXPECT_EQ(updates.value("a", 1), 0.5);
  EXPECT_EQ(updates.value("a", 2), -0.25);
  EXPECT_EQ(updates.value("b", 0), 0.5);
  EXPECT_EQ(updates.value("b", 1), 0);
}

TEST_P(ValueClip, sees_the_mean_over_replicas) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{ValueClip: 0.5}]}", 0.25, GetParam());
  updates.set("@gradient/a", 0, 1);
  updates.run();
  EXPECT_EQ(updates.value("a", 0), -0.25);
}

INSTANTIATE_TEST_SUITE_P(On, ValueClip, testing::Values(Backend::kReference, Backend::kCpu), name_of_backend);

TEST(ValueClipParams, need_a_value_above_zero) {
  EXPECT_THROW(Updates("SGD: {gradient: [ValueClip]}"), ConfigError);
  EXPECT_THROW(Updates("SGD: {gradient: [{ValueClip: 0}]}"), ConfigError);
}

}  // namespace
}  // namespace tpack
