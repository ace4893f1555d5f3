#include "predict/evaluation_flow.h"

#include <gtest/gtest.h>

#include "support/positions.h"
#include "support/small_model.h"

namespace tpack {
namespace {

std::string error_of(const std::string& flow_tail) {
  try {
    check_evaluation_flow(small_flow(10, flow_tail), "validation", in_train_yaml(30, 28));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(EvaluationFlow, takes_batches_that_leave_nothing_out) {
  EXPECT_EQ(error_of("- BatchData: {batch_size: 4, remainder: true}"), "");
  EXPECT_EQ(error_of("- BatchData: {batch_size: 5}"), "");
}

TEST(EvaluationFlow, refuses_one_that_drops_samples) {
  EXPECT_EQ(
      error_of("- BatchData: {batch_size: 4}"),
      "train.yaml:30:28: flow 'validation' drops 2 of 10 samples, since 4 to a batch leave a remainder; "
      "set remainder: true in its BatchData");
}

TEST(EvaluationFlow, refuses_one_that_never_ends) {
  EXPECT_EQ(
      error_of("- RepeatedData: {num: -1}\n- BatchData: {batch_size: 4}"),
      "train.yaml:30:28: flow 'validation' never ends, but a figure is taken over one whole pass; leave "
      "out what repeats the data, or put FixedSizeData: {size: ...} in front of its BatchData");
}

TEST(EvaluationFlow, refuses_single_samples) {
  EXPECT_EQ(error_of(""),
            "train.yaml:30:28: flow 'validation' gives single samples; end it with BatchData: {batch_size: "
            "..., remainder: true}");
}

TEST(EvaluationFlow, needs_the_classes_of_training) {
  const DataFlow digits = make_flow(parse_yaml("[RenderedDigits, BatchData: {batch_size: 5}]", "test.yaml"));
  const DataFlow clothes = make_flow(parse_yaml("[FashionMnist, BatchData: {batch_size: 5}]", "test.yaml"));
  const DataFlow nameless = small_flow(10, "- BatchData: {batch_size: 5}");
  const auto error_with = [](const DataFlow& train, const DataFlow& flow) -> std::string {
    try {
      check_same_classes(train, flow, "validation", in_train_yaml(30, 28));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_with(digits, digits), "");
  EXPECT_EQ(error_with(digits, nameless), "");
  EXPECT_EQ(error_with(nameless, digits), "");
  EXPECT_EQ(error_with(digits, clothes),
            "train.yaml:30:28: flow 'validation' has other classes than data.train: label 0 of component "
            "'label' is "
            "'T-shirt/top' there and '0' in data.train; use data with the same classes");
}

}  // namespace
}  // namespace tpack
