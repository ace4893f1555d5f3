// Runs `tpack train --folds` with what it writes of each fold.
#include "evaluation/out_of_fold.h"

#include <filesystem>
#include <set>

#include <gmock/gmock-matchers.h>

#include "core/text.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing_cli::Outcome;

class OutOfFold : public testing::Test {
 protected:
  Outcome train(const std::string& more) {
    std::string rows = "row_id,x,y\n";
    for (int i = 0; i < 12; ++i)
      rows += "r" + std::to_string(i) + "," + std::to_string(i) + (i % 2 == 0 ? ",even\n" : ",odd\n");
    write_content(folder_ / "train.csv", rows);
    write_content(
        folder_ / "a.yaml",
        "tpack: 1\nmax_epoch: 1\nsteps_per_epoch: 1\nengine: {threads: 1, algorithm: heuristic}\n"
        "data:\n  train: [{CSV: {file: train.csv, columns: {x: [x]}, labels: {y: y}}}, {BatchData: 2}]\n"
        "  validation: [{BatchData: {batch_size: 3, remainder: true}}]\n"
        "model:\n  layers: [{FullyConnected: {name: logits, units: 2, input: x}}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: logits, labels: y}]\n"
        "optimizer: {Adam: {learning_rate: 0.01}}\n" +
            more);
    return testing_cli::tpack({"train", folder_ / "a.yaml", "--folds", "3", "--log-dir", folder_ / "run"});
  }

  TemporaryFolder folder_;
};

TEST_F(OutOfFold, has_each_row_once_in_the_order_of_the_file) {
  const Outcome outcome = train(
      "callbacks: [ModelSaver, {InferenceRunner: {data: validation}}]\n"
      "predict: {data: validation, outputs: {p: {Softmax: logits}}}\n");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::string> lines = split(content_of(folder_ / "run/out_of_fold.csv"), '\n');
  ASSERT_EQ(lines.size(), 14U);
  EXPECT_EQ(lines[0], "file,row_id,true,prediction,score,probability.even,probability.odd,fold");
  std::multiset<std::string> folds;
  for (size_t i = 1; i <= 12; ++i) {
    const std::string number = std::to_string(i - 1);
    EXPECT_THAT(lines[i], HasSubstr("train.csv:" + std::to_string(i + 1) + ",r" + number +
                                    (i % 2 == 1 ? ",even," : ",odd,")));
    folds.insert(lines[i].substr(lines[i].rfind(',') + 1));
  }
  for (const char* fold : {"0", "1", "2"}) EXPECT_EQ(folds.count(fold), 4U);
}

/// What the model of fold 1 says of its validation part.
TEST_F(OutOfFold, has_the_predictions_of_the_model_that_did_not_see_the_row) {
  ASSERT_EQ(
      train("callbacks: [ModelSaver]\npredict: {data: validation, outputs: {p: {Softmax: logits}}}\n").code,
      0);
  const std::string text = content_of(folder_ / "run/out_of_fold.csv");
  std::string fold_1;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run"))
    if (entry.is_directory() && entry.path().filename().string().starts_with("001")) fold_1 = entry.path();
  if (fold_1.empty())
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run"))
      if (entry.path().filename().string().find("fold=1") != std::string::npos) fold_1 = entry.path();
  ASSERT_FALSE(fold_1.empty());
  const Outcome alone =
      testing_cli::tpack({"infer", fold_1 + "/checkpoints/model-1.h5", "--data", "validation", "--columns",
                          "file,row_id,true,prediction,score,probability.even,probability.odd"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  int found = 0;
  for (const std::string& line : split(alone.out, '\n')) {
    if (line.empty() || line.starts_with("file,")) continue;
    EXPECT_THAT(text, HasSubstr(line + ",1\n"));
    ++found;
  }
  EXPECT_EQ(found, 4);
}

TEST_F(OutOfFold, is_not_written_where_nothing_is_predicted_or_saved) {
  const Outcome outcome = train("callbacks: [ModelSaver]\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("add predict: {outputs: ...}"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/out_of_fold.csv"));
}

}  // namespace
}  // namespace tpack
