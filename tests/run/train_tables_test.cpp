// Runs the program on tables as people have them: `split`, `auto` columns, weights of classes, folds.
#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "sources/split_parts.h"
#include "support/errors.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Not;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::tpack;

class Tables : public testing::Test {
 protected:
  /// 40 rows: `late` is yes (8 rows) where the word is b; gaps, and an id.
  void SetUp() override {
    std::string text = "id,word,n,late\n";
    for (int i = 0; i < 40; ++i)
      text += std::to_string(i + 1) + "," +
              (i % 5 == 2   ? "b"
               : i % 2 == 0 ? "a"
                            : "") +
              "," + (i % 3 == 0 ? "" : std::to_string(i % 7)) + "," + (i % 5 == 2 ? "yes" : "no") + "\n";
    write_content(folder_ / "t.csv", text);
  }
  std::string config(const std::string& split, const std::string& weights = "balanced") const {
    return "tpack: 1\nname: t\nmax_epoch: 6\nengine: {threads: 1, algorithm: heuristic}\nsplit: " + split +
           R"(
data:
  train: [{CSV: {file: t.csv, columns: {x: auto}, types: {id: ignore}, labels: {late: late}}}, {BatchData: {batch_size: 4}}]
  validation: [{BatchData: {batch_size: 8, remainder: true}}]
model:
  layers: [{FullyConnected: {name: s, units: 2, input: x}}]
  cost: [{SoftmaxCrossEntropy: {logits: s, labels: late, class_weights: )" +
           weights + R"(}}]
  metrics: [{Accuracy: {logits: s, labels: late}}]
optimizer: {Adam: {learning_rate: 0.1}}
callbacks: [ModelSaver, {InferenceRunner: {data: validation}}]
predict: {data: validation, outputs: {p: {Softmax: s}}}
)";
  }
  Outcome train(const std::string& text, const std::string& run) const {
    write_content(folder_ / "c.yaml", text);
    return tpack({"train", folder_ / "c.yaml", "--log-dir", folder_ / run});
  }
  std::string newest(const std::string& run) const {
    std::string file;
    int64_t most = -1;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / run + "/checkpoints")) {
      const auto step = load_checkpoint_texts(entry.path()).step;
      if (step > most) {
        most = step;
        file = entry.path();
      }
    }
    return file;
  }
  std::vector<float> variable(const std::string& run, const std::string& name) const {
    const CheckpointContent content = load_checkpoint(newest(run));
    const Tensor value = content.tensors.at("model/" + name);
    return {value.span<float>().begin(), value.span<float>().end()};
  }

  TemporaryFolder folder_;
};

TEST_F(Tables, with_gaps_and_words_are_learned_and_predicted) {
  const Outcome outcome = exits(0, train(config("0.25"), "run"));
  EXPECT_THAT(outcome.err, HasSubstr("train: 30 rows in 2 classes (no: 24, yes: 6)"));
  EXPECT_THAT(outcome.err, HasSubstr("validation: 10 rows in 2 classes (no: 8, yes: 2)"));
  EXPECT_THAT(outcome.err, HasSubstr("number: n; category: word; not read: id"));
  // 30 / (2 * 24) and 30 / (2 * 6), of the rows for training.
  EXPECT_THAT(variable("run", "class_weights/late/balanced"),
              ElementsAre(FloatNear(0.625F, 1e-6F), FloatNear(2.5F, 1e-6F)));
  EXPECT_THAT(outcome.err, HasSubstr("class_weights: no 0.625, yes 2.5"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("dominate the gradient")));
  EXPECT_TRUE(says(train(config("0.25", "{no: 0.002}"), "far").err, {"class_weights go from 0.002 to 1:"}));
  const Outcome eval = exits(0, tpack({"eval", newest("run"), "--json"}));
  EXPECT_EQ(json::parse(eval.out).at("accuracy"), 1);
  // Another order, no labels, an unknown word; without the training data.
  std::filesystem::remove(folder_ / "t.csv");
  write_content(folder_ / "new.csv", "word,n,id\nb,,1\na,3,2\nc,1,3\n");
  const Outcome infer = exits(0, tpack({"infer", newest("run"), folder_ / "new.csv", "--format", "csv"}));
  EXPECT_TRUE(says(infer.out, {":2,yes,", ":3,no,"}));
}

/// Numbers of customers say nothing, and those of new ones are others.
TEST_F(Tables, do_not_learn_integers_that_are_called_ids) {
  std::string text = "customer_id,n,late\n";
  for (int i = 0; i < 40; ++i)
    text += std::to_string(1000 + (i * 17) % 40) + "," + std::to_string(i % 7) +
            (i % 2 == 0 ? ",no\n" : ",yes\n");
  write_content(folder_ / "t.csv", text);
  write_content(folder_ / "c.yaml",
                "tpack: 1\ndata: {train: [{CSV: {file: t.csv, columns: {x: auto}, labels: {late: late}}}, "
                "BatchData: 8]}\nmodel:\n  layers: [{FullyConnected: {name: s, units: 2, input: "
                "x}}]\n  cost: [SoftmaxCrossEntropy: {logits: s, labels: late, ignore_label: -1}]\n  "
                "metrics: [Accuracy: {logits: s, labels: late}]\noptimizer: SGD\nmax_epoch: 1\n");
  const Outcome outcome = exits(0, tpack({"check", folder_ / "c.yaml"}));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("id: customer_id (by their names; not read"));
  EXPECT_TRUE(says(outcome.err, {"'late', which the cost ignores"}));
}

TEST_F(Tables, with_numbers_far_from_1_are_predicted_in_their_unit) {
  std::string text = "x,price\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i / 40.0) + "," + std::to_string(5000 + 100 * i) + "\n";
  write_content(folder_ / "t.csv", text);
  const auto config = [](const std::string& layers, const std::string& output) {
    return R"(tpack: 1
name: t
max_epoch: 40
engine: {threads: 1, algorithm: heuristic}
data:
  train: [{CSV: {file: t.csv, columns: {x: [x], price: price}}}, {BatchData: {batch_size: 4}}]
model:
  layers: [{FullyConnected: {name: last, units: 1, input: x}})" +
           layers + "]\n  cost: [{MeanSquaredError: {predictions: " + output + R"(, targets: price}}]
optimizer: {Adam: {learning_rate: 0.03}}
callbacks: [ModelSaver]
predict: {data: train, outputs: [)" +
           output + "]}\n";
  };
  const char* const advice = "its targets 'price' are 6950 +- 1154 in data.train";
  const Outcome plain = exits(0, train(config("", "last"), "plain"));
  EXPECT_TRUE(says(plain.err, {advice, "put ScaleLike: price after it"}));
  const Outcome scaled = exits(0, train(config(", {ScaleLike: {name: y, data: price}}", "y"), "scaled"));
  EXPECT_THAT(scaled.err, testing::Not(HasSubstr(advice)));
  EXPECT_THAT(variable("scaled", "y/of_data"),
              ElementsAre(FloatNear(6950, 1e-2F), FloatNear(1154.3396F, 1e-2F)));
  // Every row counts once, also those that fill no batch.
  std::string threes = config(", {ScaleLike: {name: y, data: price}}", "y");
  threes.replace(threes.find("batch_size: 4"), 13, "batch_size: 3");
  exits(0, train(threes, "uneven"));
  EXPECT_THAT(variable("uneven", "y/of_data"),
              ElementsAre(FloatNear(6950, 1e-2F), FloatNear(1154.3396F, 1e-2F)));
  exits(0, train(config(", {ScaleLike: {name: y, data: price, log: true}}", "y"), "logs"));
  double mean = 0;
  double squares = 0;
  for (int i = 0; i < 40; ++i) mean += std::log1p(5000 + 100 * i) / 40;
  for (int i = 0; i < 40; ++i) squares += std::pow(std::log1p(5000 + 100 * i) - mean, 2) / 40;
  EXPECT_THAT(variable("logs", "y/of_data"),
              ElementsAre(FloatNear(static_cast<float>(mean), 1e-5F),
                          FloatNear(static_cast<float>(std::sqrt(squares)), 1e-5F)));
  // Only an input of the model has numbers in the training data.
  const Outcome wrong = exits(2, train(config(", {ScaleLike: {name: y, data: last}}", "y"), "wrong"));
  EXPECT_THAT(wrong.err, HasSubstr("'data' of ScaleLike is 'last', which is not an input of the model"));
  const Outcome wide = train(config(", {FullyConnected: {name: wide, units: 3}}, {ScaleLike: {data: price}}, "
                                    "{FullyConnected: {name: y, units: 1}}",
                                    "y"),
                             "wide");
  EXPECT_EQ(wide.code, 2);
  EXPECT_THAT(wide.err, HasSubstr("'price' has 1 number in each sample, but x has 3 columns"));
  // From the stored model alone.
  std::filesystem::remove(folder_ / "t.csv");
  write_content(folder_ / "new.csv", "x\n0.5\n");
  const Outcome infer = tpack({"infer", newest("scaled"), folder_ / "new.csv", "--columns", "y=prediction"});
  ASSERT_EQ(infer.code, 0) << infer.err;
  EXPECT_NEAR(std::stod(last_line(infer.out)), 7000, 150) << infer.out;
}

TEST_F(Tables, that_are_streamed_are_learned_and_predicted) {
  std::string text = config("null");
  const auto replace = [&](const std::string& old, const std::string& with) {
    text.replace(text.find(old), old.size(), with);
  };
  replace("{CSV: {file: t.csv, columns: {x: auto}, types: {id: ignore}, labels: {late: late}}}",
          "{Streamed: {source: {CSV: {file: t.csv, columns: {x: auto}, types: {id: ignore}, labels: {late: "
          "{column: late, classes: [no, yes]}}}}}}");
  replace("  validation: [{BatchData: {batch_size: 8, remainder: true}}]\n", "");
  replace(", {InferenceRunner: {data: validation}}", "");
  replace("data: validation", "data: train");
  replace("max_epoch: 6", "max_epoch: 6\nsteps_per_epoch: 10");
  const Outcome outcome = exits(0, train(text, "run"));
  EXPECT_THAT(outcome.err, HasSubstr("rows are streamed from"));
  std::filesystem::remove(folder_ / "t.csv");
  write_content(folder_ / "new.csv", "word,n\nb,\na,3\n");
  const Outcome infer = exits(0, tpack({"infer", newest("run"), folder_ / "new.csv", "--format", "csv"}));
  EXPECT_TRUE(says(infer.out, {":2,yes,", ":3,no,"}));
}

TEST_F(Tables, have_weights_of_classes_by_name) {
  ASSERT_EQ(train(config("0.25", "{yes: 3}"), "run").code, 0);
  const Outcome wrong = train(config("0.25", "{yess: 3}"), "wrong");
  EXPECT_EQ(tpack({"check", folder_ / "c.yaml"}).code, 2);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(says(wrong.err, {"data.train has no class 'yess'", "the classes are no, yes"}));
}

TEST_F(Tables, are_cross_validated_as_by_hand) {
  write_content(folder_ / "c.yaml", config("{folds: 2}"));
  const Outcome outcome =
      exits(0, tpack({"train", folder_ / "c.yaml", "--folds", "2", "--log-dir", folder_ / "folds"}));
  EXPECT_THAT(outcome.out, HasSubstr("validation_accuracy"));
  const json folds = json::parse(content_of(folder_ / "folds/folds.json"));
  EXPECT_EQ(folds.at("folds"), 2);
  const json accuracy = folds.at("statistics").at("validation_accuracy");
  EXPECT_EQ(accuracy.at("values").size(), 2U);
  const double a = accuracy.at("values")[0];
  const double b = accuracy.at("values")[1];
  EXPECT_DOUBLE_EQ(accuracy.at("mean"), (a + b) / 2);
  EXPECT_NEAR(accuracy.at("deviation").get<double>(), std::abs(a - b) / std::sqrt(2.0), 1e-12);
  // A fold is bit-equal to a run on files that are cut by hand.
  std::vector<int32_t> classes;
  for (int i = 0; i < 40; ++i) classes.push_back(i % 5 == 2 ? 1 : 0);
  const std::vector<size_t> parts = stratified_parts(classes, {0.5, 0.5}, 0, false);
  std::istringstream whole(content_of(folder_ / "t.csv"));
  std::string line;
  std::getline(whole, line);
  std::array<std::string, 2> cut = {line + "\n", line + "\n"};
  for (size_t i = 0; std::getline(whole, line); ++i) cut.at(parts[i]) += line + "\n";
  write_content(folder_ / "fold0.csv", cut[0]);
  write_content(folder_ / "fold1.csv", cut[1]);
  std::string by_hand = config("null");
  by_hand.replace(by_hand.find("t.csv"), 5, "fold1.csv");
  by_hand.replace(
      by_hand.find("validation: ["), 13,
      "validation: [{CSV: {file: fold0.csv, shuffle: false, columns: {x: auto}, labels: {late: late}}}, ");
  ASSERT_EQ(train(by_hand, "by-hand").code, 0);
  const std::string fold = "folds/" + folds.at("runs")[0].get<std::string>();
  EXPECT_EQ(variable(fold, "s/W"), variable("by-hand", "s/W"));
}

}  // namespace
}  // namespace tpack
