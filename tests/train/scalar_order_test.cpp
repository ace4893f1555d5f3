#include "train/scalar_order.h"

#include <gtest/gtest.h>

#include "support/positions.h"

namespace tpack {
namespace {

const Position kHere = in_train_yaml(9, 20);

std::string errors_of(const ScalarOrder& order) {
  Diagnostics errors;
  order.check({"train", "test"}, errors);
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ScalarOrder, what_an_earlier_callback_gives_is_there) {
  ScalarOrder order;
  order.next_callback("callback one", {});
  order.provides("validation_accuracy", ScalarOrder::When::kTrigger);
  order.next_callback("callback one", {});
  order.needs({"validation_accuracy", kHere}, "callback MaxSaver");
  EXPECT_EQ(errors_of(order), "");
}

TEST(ScalarOrder, what_a_callback_gives_that_failed_is_not_missed) {
  ScalarOrder order;
  order.next_callback("callback one", {});
  order.callback_failed();
  order.next_callback("callback one", {});
  order.needs({"validation_accuracy"}, "callback MaxSaver");
  order.needs({"accuracy"}, "callback MaxSaver");
  order.next_callback("callback one", {});
  order.provides("accuracy", ScalarOrder::When::kTrigger);
  EXPECT_EQ(errors_of(order),
            "callback MaxSaver: 'accuracy' is reported by a callback later in the list; move that callback "
            "before this one");
}

TEST(ScalarOrder, what_a_later_callback_gives_in_its_trigger_comes_too_late) {
  ScalarOrder order;
  order.next_callback("callback one", {});
  order.needs({"validation_accuracy", kHere}, "callback MaxSaver");
  order.next_callback("callback one", {});
  order.provides("validation_accuracy", ScalarOrder::When::kTrigger);
  EXPECT_EQ(errors_of(order),
            "train.yaml:9:20: callback MaxSaver: 'validation_accuracy' is reported by a callback later in "
            "the list; move that callback before this one");
}

TEST(ScalarOrder, what_a_later_callback_gives_in_a_step_is_there_in_time) {
  ScalarOrder order;
  order.next_callback("callback one", {});
  order.needs({"cost", kHere}, "callback MinSaver");
  order.next_callback("callback one", {});
  order.provides("cost", ScalarOrder::When::kStep);
  EXPECT_EQ(errors_of(order), "");
}

TEST(ScalarOrder, a_scalar_has_one_source) {
  ScalarOrder order;
  order.next_callback("callback moving_average_summary", {});
  order.provides("samples_per_s", ScalarOrder::When::kStep);
  order.next_callback("callback throughput_tracker", kHere);
  order.provides("samples_per_s", ScalarOrder::When::kTrigger);
  order.provides("steps_per_s", ScalarOrder::When::kTrigger);
  order.provides("steps_per_s", ScalarOrder::When::kTrigger);
  EXPECT_EQ(errors_of(order),
            "train.yaml:9:20: statistic 'samples_per_s' of callback throughput_tracker is also reported by "
            "callback moving_average_summary; rename the cost, metric or flow that it comes from");
}

TEST(ScalarOrder, a_statistic_of_a_flow_that_is_not_run_says_which_callback_reports_it) {
  ScalarOrder order;
  order.next_callback("callback one", {});
  order.provides("accuracy", ScalarOrder::When::kStep);
  order.needs({"test_accuracy", kHere}, "callback MaxSaver");
  EXPECT_EQ(
      errors_of(order),
      "train.yaml:9:20: callback MaxSaver: unknown statistic 'test_accuracy'; no callback runs the model "
      "on data.test: add InferenceRunner: {data: test} to the callbacks");
}

TEST(ScalarOrder, an_unknown_name_is_an_error_with_the_nearest_one) {
  ScalarOrder order;
  order.next_callback("callback one", {});
  order.provides("validation_accuracy", ScalarOrder::When::kTrigger);
  order.next_callback("callback one", {});
  order.needs({"validation_acuracy", kHere}, "callback MaxSaver");
  EXPECT_EQ(errors_of(order),
            "train.yaml:9:20: callback MaxSaver: unknown statistic 'validation_acuracy'; did you mean "
            "'validation_accuracy'?");
}

}  // namespace
}  // namespace tpack
