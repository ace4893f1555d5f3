#include "train/scalar_order.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/positions.h"

namespace tpack {
namespace {

const Position kHere = in_train_yaml(9, 20);

std::string errors_of(const ScalarOrder& order) {
  Diagnostics errors;
  order.check({"train", "test"}, errors);
  return error_from([&] { errors.throw_if_any(); });
}

ScalarOrder at_first_callback() {
  ScalarOrder order;
  order.next_callback("callback one", {});
  return order;
}

TEST(ScalarOrder, what_an_earlier_callback_gives_is_there) {
  ScalarOrder order = at_first_callback();
  order.provides("validation_accuracy", ScalarOrder::When::kTrigger);
  order.next_callback("callback one", {});
  order.needs({.scalar = {"validation_accuracy", kHere}, .who = "callback MaxSaver"});
  EXPECT_EQ(errors_of(order), "no error");
}

TEST(ScalarOrder, what_a_callback_gives_that_failed_is_not_missed) {
  ScalarOrder order = at_first_callback();
  order.callback_failed();
  order.next_callback("callback one", {});
  order.needs({.scalar = {"validation_accuracy"}, .who = "callback MaxSaver"});
  order.needs({.scalar = {"accuracy"}, .who = "callback MaxSaver"});
  order.next_callback("callback one", {});
  order.provides("accuracy", ScalarOrder::When::kTrigger);
  EXPECT_TRUE(says(errors_of(order), {"'accuracy' is reported by a", "move that callback before this"}));
}

TEST(ScalarOrder, what_a_later_callback_gives_in_its_trigger_comes_too_late) {
  ScalarOrder order = at_first_callback();
  order.needs({.scalar = {"validation_accuracy", kHere}, .who = "callback MaxSaver"});
  order.next_callback("callback one", {});
  order.provides("validation_accuracy", ScalarOrder::When::kTrigger);
  EXPECT_TRUE(says(errors_of(order), {"train.yaml:9:20:", "'validation_accuracy' is reported by",
                                      "move that callback before this"}));
}

TEST(ScalarOrder, what_a_later_callback_gives_in_a_step_is_there_in_time) {
  ScalarOrder order = at_first_callback();
  order.needs({.scalar = {"cost", kHere}, .who = "callback MinSaver"});
  order.next_callback("callback one", {});
  order.provides("cost", ScalarOrder::When::kStep);
  EXPECT_EQ(errors_of(order), "no error");
}

TEST(ScalarOrder, in_steps_a_later_callback_gives_only_what_it_gives_in_the_run_of_the_step) {
  using Triggered = ScalarOrder::Triggered;
  ScalarOrder order;
  order.next_callback("callback one", kHere);
  for (const char* name : {"learning_rate", "cost"})
    order.needs({.scalar = {name}, .who = "callback X", .triggered = Triggered::kAfterSteps});
  order.next_callback("callback two", {});
  order.provides("learning_rate", ScalarOrder::When::kRun);
  order.provides("cost", ScalarOrder::When::kStep);
  EXPECT_TRUE(says(errors_of(order),
                   {"train.yaml:9:20:", "'cost' is reported by a", "move that callback before this"}))
      << "at the place of the callback, where that of the name is not known";
}

TEST(ScalarOrder, in_steps_nothing_is_there_that_comes_after_epochs_only) {
  using Triggered = ScalarOrder::Triggered;
  ScalarOrder order = at_first_callback();
  order.provides("a", ScalarOrder::When::kTrigger);
  order.provides("b", ScalarOrder::When::kTrigger, Triggered::kAfterSteps);
  order.provides("c", ScalarOrder::When::kTrigger, Triggered::kAfterBoth);
  order.next_callback("callback two", {});
  for (const char* name : {"a", "b", "c"})
    order.needs({.scalar = {name, kHere}, .who = "callback X", .triggered = Triggered::kAfterSteps});
  EXPECT_TRUE(says(errors_of(order),
                   {"train.yaml:9:20:", "'a' is reported only after", "also set `every: {steps: ...}`"}));
}

TEST(ScalarOrder, formulas_write_names_with_points_and_take_older_values) {
  ScalarOrder order = at_first_callback();
  order.provides("d/cost-a", ScalarOrder::When::kTrigger);
  order.next_callback("callback two", {});
  order.needs({.scalar = {"d.cost.a", kHere},
               .who = "callback X",
               .triggered = ScalarOrder::Triggered::kAfterSteps,
               .is_in_formula = true});
  EXPECT_EQ(errors_of(order), "no error");
  order.needs({.scalar = {"epcoh", kHere}, .who = "callback X", .is_in_formula = true, .others = {"epoch"}});
  EXPECT_TRUE(says(errors_of(order), {"train.yaml:9:20:", "'epcoh'", "did you mean 'epoch'?"}));
}

TEST(ScalarOrder, callbacks_inside_of_one_have_an_order_too) {
  ScalarOrder order = at_first_callback();
  order.needs({.scalar = {"a", kHere}, .who = "callback X"});
  order.provides("a", ScalarOrder::When::kTrigger);
  order.needs({.scalar = {"a"}, .who = "callback Y"});
  EXPECT_TRUE(says(errors_of(order),
                   {"train.yaml:9:20:", "'a' is reported by a callback", "move that callback before this"}));
}

TEST(ScalarOrder, a_scalar_has_one_source) {
  ScalarOrder order;
  order.next_callback("callback moving_average_summary", in_train_yaml(4, 5));
  order.provides("samples_per_s", ScalarOrder::When::kStep);
  order.next_callback("callback throughput_tracker", kHere);
  order.provides("samples_per_s", ScalarOrder::When::kTrigger);
  order.provides("steps_per_s", ScalarOrder::When::kTrigger);
  order.provides("steps_per_s", ScalarOrder::When::kTrigger);
  EXPECT_TRUE(says(errors_of(order), {"train.yaml:9:20:", "'samples_per_s' of callback throughput_tracker",
                                      "(train.yaml:4:5)", "remove one of them, or rename"}));
}

TEST(ScalarOrder, a_statistic_of_a_flow_that_is_not_run_says_which_callback_reports_it) {
  ScalarOrder order = at_first_callback();
  order.provides("accuracy", ScalarOrder::When::kStep);
  order.needs({.scalar = {"test_accuracy", kHere}, .who = "callback MaxSaver"});
  EXPECT_TRUE(
      says(errors_of(order), {"train.yaml:9:20:", "'test_accuracy'", "no callback runs the model on"}));
}

TEST(ScalarOrder, an_unknown_name_is_an_error_with_the_nearest_one) {
  ScalarOrder order = at_first_callback();
  order.provides("validation_accuracy", ScalarOrder::When::kTrigger);
  order.next_callback("callback one", {});
  order.needs({.scalar = {"validation_acuracy", kHere}, .who = "callback MaxSaver"});
  EXPECT_TRUE(says(errors_of(order), {"train.yaml:9:20:", "'validation_acuracy'", "did you mean"}));
}

}  // namespace
}  // namespace tpack
