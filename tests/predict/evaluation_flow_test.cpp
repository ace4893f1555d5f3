#include "predict/evaluation_flow.h"

#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "support/captured_log.h"
#include "support/positions.h"
#include "support/small_model.h"
#include "support/temporary_folder.h"

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

TEST(EvaluationFlow, rejects_one_that_drops_samples) {
  EXPECT_EQ(error_of("- BatchData: {batch_size: 4}"),
            "train.yaml:30:28: flow 'validation' drops 2 of 10 samples, because batches of 4 leave a "
            "remainder; set remainder: true in its BatchData");
}

TEST(EvaluationFlow, rejects_one_that_never_ends) {
  EXPECT_EQ(error_of("- RepeatedData: {num: -1}\n- BatchData: {batch_size: 4}"),
            "train.yaml:30:28: flow 'validation' never ends, but an evaluation needs one complete pass; "
            "remove stages that repeat the data, or put FixedSizeData: {size: ...} before its BatchData");
}

TEST(EvaluationFlow, rejects_one_that_repeats_samples) {
  for (const std::string stage :
       {"RepeatedData: {num: 2}", "RepeatedDataPoint: 2", "FixedSizeData: {size: 12}",
        "LocallyShuffleData: {buffer_size: 4, num_reuse: 2}"}) {
    const std::string error = error_of("- " + stage + "\n- BatchData: {batch_size: 4, remainder: true}");
    EXPECT_NE(error.find("needs each sample once"), std::string::npos) << stage << ": " << error;
    EXPECT_NE(error.find("remove that stage"), std::string::npos) << stage;
  }
  EXPECT_EQ(error_of("- FixedSizeData: {size: 8}\n- BatchData: {batch_size: 4}"), "");
}

TEST(EvaluationFlow, rejects_single_samples) {
  EXPECT_EQ(error_of(""),
            "train.yaml:30:28: flow 'validation' produces single samples; end it with BatchData: "
            "{batch_size: ..., remainder: true}");
}

TEST(EvaluationFlow, needs_the_labels_of_training_for_the_same_classes) {
  const TemporaryFolder folder;
  for (const char* name : {"two/ants", "two/bees", "one/bees", "more/ants", "more/bees", "more/wasps"})
    std::filesystem::create_directories(folder / name);
  const auto images = [&](const std::string& name) {
    return make_flow(parse_yaml("[ImageFolder: " + (folder / name) + "]", "test.yaml"));
  };
  const auto error_with = [](const DataFlow& train, const DataFlow& flow) -> std::string {
    try {
      check_same_classes({{"train", train}, {"validation", flow}});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_with(images("two"), images("two")), "");
  {
    const CapturedLog log;
    EXPECT_EQ(error_with(images("two"), images("more")), "");
    EXPECT_THAT(log.text(),
                testing::HasSubstr("flow 'validation' has classes that data.train does not have: 'wasps'\n"));
  }
  {
    const CapturedLog log;
    EXPECT_EQ(error_with(images("more"), images("two")), "");
    EXPECT_THAT(log.text(),
                testing::HasSubstr("flow 'validation' does not have these classes of data.train: 'wasps'\n"));
  }
  {
    const CapturedLog log;
    EXPECT_EQ(error_with(images("two"), make_flow(parse_yaml("[RenderedDigits]", "test.yaml"))), "");
    EXPECT_THAT(log.text(),
                testing::HasSubstr("flow 'validation' has none of the classes of data.train, but '0', '1', "
                                   "'2', '3', '4', '5', '6', '7', '8', '9'\n"));
  }
  EXPECT_EQ(error_with(small_flow(10, ""), images("two")), "");
  EXPECT_EQ(error_with(images("two"), images("one")),
            "test.yaml:1:1: flow 'validation' has different classes than data.train: 'bees' is label 0 of "
            "component "
            "'label' there and label 1 in data.train; use data with the same classes, or list all of them "
            "(`classes` "
            "of a CSV)");
}

TEST(EvaluationFlow, needs_the_labels_that_the_checkpoint_was_trained_with) {
  const TemporaryFolder folder;
  for (const char* name : {"ants", "bees"}) std::filesystem::create_directories(folder / name);
  const DataFlow flow = make_flow(parse_yaml("[ImageFolder: " + folder.str() + "]", "test.yaml"));
  EXPECT_NO_THROW(check_same_labels({"ants", "bees"}, nullptr, flow, "validation"));
  EXPECT_NO_THROW(check_same_labels({}, nullptr, flow, "validation"));
  try {
    check_same_labels({"bees", "ants"}, nullptr, flow, "validation");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "flow 'validation' has different classes than the checkpoint: 'ants' is label 0 of component "
        "'label' there and label 1 in the checkpoint; use data with the same classes, or list all "
        "of them (`classes` of a CSV)");
  }
}

}  // namespace
}  // namespace tpack
