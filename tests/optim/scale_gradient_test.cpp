#include <gmock/gmock-matchers.h>

#include "optim/updates.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

const live::Fields kScaleGradient("gradient processor", "ScaleGradient",
                                  {.base = "{factors: {a: 2}}", .values = {{"factors", "{a: 3}"}}});

class ScaleGradient : public testing::TestWithParam<Backend> {};

TEST_P(ScaleGradient, scales_the_gradients_of_the_variables_that_it_names) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{ScaleGradient: {factors: {\"[bc]\": 0.5}}}]}", 1,
                  GetParam());
  updates.set("@gradient/a", 2, 3);
  updates.set("@gradient/b", 0, 3);
  updates.set("@gradient/b", 1, -1);
  updates.run();
  EXPECT_EQ(updates.value("a", 2), -3);
  EXPECT_EQ(updates.value("b", 0), -1.5);
  EXPECT_EQ(updates.value("b", 1), 0.5);
}

TEST_P(ScaleGradient, runs_in_the_order_of_the_list) {
  for (const auto& [processors, step] :
       {std::pair("ScaleGradient: {factors: {a: 4}}}, {ValueClip: 1", 1.0),
        std::pair("ValueClip: 1}, {ScaleGradient: {factors: {a: 4}}", 4.0)}) {
    Updates updates(std::string("SGD: {learning_rate: 1, gradient: [{") + processors + "}]}", 1, GetParam());
    updates.set("@gradient/a", 0, 3);
    updates.run();
    EXPECT_EQ(updates.value("a", 0), -step) << processors;
  }
}

INSTANTIATE_TEST_SUITE_P(On, ScaleGradient, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

}  // namespace
}  // namespace tpack
