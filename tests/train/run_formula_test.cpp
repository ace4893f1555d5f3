#include "train/run_formula.h"

#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"

namespace tpack {
namespace {

/// Sets up a formula and writes down its value after each epoch; "-" for none.
class Evaluate final : public Callback {
 public:
  Evaluate(const std::string& formula, std::vector<std::string>& values)
      : formula_(Formula(ConfigNode(formula)), "callback Evaluate"), values_(values) {}
  void setup(Setup& setup) override { formula_.setup(setup); }
  void trigger(tpack::Run& run) override {
    const auto value = formula_.evaluate(run);
    values_.push_back(value ? to_json(*value) : "-");
  }

 private:
  RunFormula formula_;
  std::vector<std::string>& values_;
};

std::vector<std::string> values_of(const std::string& formula) {
  std::vector<std::string> values;
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 3});
  run.trainer.set_hyper_parameter("learning_rate", 0.5);
  run.add("give", give("test-a/cost", {0, 0.25}, {1}));
  run.add("evaluate", std::make_unique<Evaluate>(formula, values)).go();
  return values;
}

using testing::ElementsAre;

TEST(RunFormula, knows_where_the_run_is) {
  EXPECT_THAT(values_of("epoch"), ElementsAre("1", "2"));
  EXPECT_THAT(values_of("step"), ElementsAre("3", "6"));
  EXPECT_THAT(values_of("local_step"), ElementsAre("2", "2"));
  EXPECT_THAT(values_of("step / (max_epoch * steps_per_epoch)"), ElementsAre("0.5", "1"));
}

TEST(RunFormula, knows_hyper_parameters_and_statistics) {
  EXPECT_THAT(values_of("2 * learning_rate"), ElementsAre("1", "1"));
  EXPECT_THAT(values_of("test.a.cost"), ElementsAre("-", "0.25")) << "no value in the first epoch";
}

TEST(RunFormula, needs_a_value_only_where_it_counts) {
  EXPECT_THAT(values_of("epoch > 1 and test.a.cost > 0.1"), ElementsAre("false", "true"));
  EXPECT_THAT(values_of("1 if epoch == 1 else test.a.cost"), ElementsAre("1", "0.25"));
}

}  // namespace
}  // namespace tpack
