#include "backend/inference_tower.h"

#include <gmock/gmock-more-matchers.h>

#include "support/small_model.h"

namespace tpack {
namespace {

TEST(InferenceTower, has_the_models_variables_and_no_optimizers) {
  const auto model = model_of(kSmallModel);
  InferenceTower tower(*model, make_reference_device("cpu:0", {}));
  EXPECT_THAT(tower.variables().names(VariableScope::kModel),
              testing::ElementsAre("fc0/W", "fc0/b", "fc1/W", "fc1/b"));
  EXPECT_THAT(tower.variables().names(VariableScope::kOptimizer), testing::IsEmpty());
  EXPECT_EQ(tower.handle().tower, model.get());
}

TEST(InferenceTower, uses_the_choices_it_is_given) {
  const auto model = model_of(kSmallModel);
  Plan plan;
  plan.hardware = "some machine";
  InferenceTower tower(*model, make_reference_device("cpu:0", {}), plan);
  EXPECT_EQ(tower.handle().plan->hardware, "some machine");
}

}  // namespace
}  // namespace tpack
