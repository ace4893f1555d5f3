#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

TEST(HyperParamSummary, gives_the_value_that_the_last_step_of_each_epoch_used) {
  for (const auto& [more, rates] : {std::pair<std::string, std::vector<double>>("", {0.1, 0.2, 0.3}),
                                    {", step_based: true", {0.2, 0.3, 0.3}}}) {
    FakeRun run({.max_epoch = 3, .steps_per_epoch = 2});  // learning rate 0.1
    run.add("ScheduledHyperParamSetter",
            parse_yaml("{param: learning_rate, values: [[1, 0.2], [2, 0.3]]" + more + "}", "s.yaml"));
    run.add("HyperParamSummary").go();
    EXPECT_EQ(run.values("learning_rate"), rates) << more;
  }
}

}  // namespace
}  // namespace tpack
