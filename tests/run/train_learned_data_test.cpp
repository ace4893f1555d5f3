// Runs the program: what the training data fix (columns, classes) holds for validation, `eval` and `infer`.
#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "support/errors.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_cli::joined;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::tpack;
using testing_cli::Words;

/// A classifier of rows: `y` is `pos` where f_a > 0, whatever f_b is, or where the category c is b.
class LearnedData : public testing::Test {
 protected:
  void SetUp() override {
    std::string a_first = "f_a,f_b,y\n";
    std::string b_first = "f_b,f_a,y\n";
    for (int i = 0; i < 40; ++i) {
      const std::string a = i % 2 == 0 ? "2" : "-2";
      const std::string b = i % 4 < 2 ? "2" : "-2";
      const std::string y = i % 2 == 0 ? "pos" : "neg";
      a_first.append(a + "," + b + "," + y + "\n");
      b_first.append(b + "," + a + "," + y + "\n");
    }
    write_content(folder_ / "train.csv", a_first);
    write_content(folder_ / "validation.csv", b_first);
  }
  /// A linear model of `inputs`, trained for some steps; data.validation is like data.train, in another file.
  Outcome train(const std::string& columns, const std::string& model, const std::string& maps = "") {
    const std::string validation = "validation.csv";
    const auto flow = [&](const std::string& file, const char* rest) {
      return "[{CSV: {file: " + file + ", " + columns + "}}, " + maps + "{BatchData: {batch_size: 8" + rest +
             "}}]";
    };
    write_content(folder_ / "a.yaml",
                  "tpack: 1\nvars: {unused: 1, file: " + validation +
                      "}\nmax_epoch: 20\nsteps_per_epoch: 5\n"
                      "engine: {threads: 1, algorithm: heuristic}\noptimizer: {Adam: {learning_rate: 0.1}}\n"
                      "callbacks: [ModelSaver: {keep: 1}, InferenceRunner: {data: validation}]\n"
                      "data:\n  train: " +
                      flow("train.csv", "") + "\n  validation: " + flow("$(vars.file)", ", remainder: true") +
                      "\n" + model +
                      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: y}]\n"
                      "  metrics: [Accuracy: {logits: fc, labels: y}]\n"
                      "predict: {data: validation, outputs: {p: {Softmax: fc}}}\n");
    return tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run", "--resume", "never"});
  }
  Outcome train_numbers(const std::string& maps = "") {
    return train("columns: {x: ['f_.*']}, labels: {y: y}",
                 "model:\n  inputs: {x: {shape: [2]}, y: {shape: [], dtype: int32}}\n"
                 "  layers: [FullyConnected: {name: fc, input: x, units: 2}]\n",
                 maps);
  }
  Outcome train_categories() {
    return train("labels: {y: y, c: c}",
                 "model:\n  inputs: {c: {shape: [], dtype: int32}, y: {shape: [], dtype: int32}}\n"
                 "  layers: [Embedding: {name: fc, input: c, entries: 3, units: 2}]\n");
  }
  std::string checkpoint() const { return folder_ / "run/checkpoints/model-100.h5"; }
  double accuracy(std::vector<std::string> words) const {
    words.insert(words.begin(), {"eval", checkpoint(), "--json"});
    const Outcome outcome = exits(0, tpack(words));
    return outcome.code == 0 ? json::parse(outcome.out).at("accuracy").get<double>() : -1;
  }

  TemporaryFolder folder_;
};

TEST_F(LearnedData, columns_go_by_name_in_validation_eval_and_infer) {
  ASSERT_EQ(train_numbers().code, 0);
  EXPECT_EQ(accuracy({}), 1);
  std::filesystem::remove(folder_ / "train.csv");
  EXPECT_EQ(accuracy({}), 1) << "the checkpoint knows the columns";
  write_content(folder_ / "new.csv", "y,f_b,f_a\npos,-2,2\nneg,2,-2\n");
  const Outcome infer = tpack({"infer", checkpoint(), folder_ / "new.csv", "--format", "csv"});
  EXPECT_TRUE(says(infer.out, {":2,pos,", ":3,neg,"}));
  write_content(folder_ / "new.csv", "f_b\n-2\n");
  const Outcome lacks = exits(3, tpack({"infer", checkpoint(), folder_ / "new.csv", "--format", "csv"}));
  EXPECT_THAT(lacks.err, HasSubstr("lacks column 'f_a', which component 'x' of data.train uses"));
}

TEST_F(LearnedData, categories_keep_their_numbers_on_a_part_of_the_rows) {
  write_content(folder_ / "train.csv", "c,y\na,no\nb,yes\nc,no\na,no\nb,yes\nc,no\na,no\nb,yes\n");
  write_content(folder_ / "validation.csv", "c,y\nb,yes\nc,no\n");
  exits(0, train_categories());
  EXPECT_EQ(accuracy({}), 1);
  write_content(folder_ / "one.csv", "y,c\nyes,b\n");
  EXPECT_EQ(accuracy({"--set", "vars.file=one.csv"}), 1);
  const Outcome infer = exits(0, tpack({"infer", checkpoint(), folder_ / "one.csv", "--format", "csv"}));
  EXPECT_THAT(infer.out, HasSubstr(":2,yes,"));
  const Outcome inspect = tpack({"ckpt", "inspect", checkpoint(), "--json"});
  const json fitted = json::parse(inspect.out).at("fitted");
  EXPECT_EQ(fitted.at(1).at("component"), "c");
  EXPECT_EQ(fitted.at(1).at("classes"), json({"a", "b", "c"}));
  EXPECT_THAT(tpack({"ckpt", "inspect", checkpoint()}).out, HasSubstr("learned from data.train"));
}

TEST_F(LearnedData, means_are_those_of_the_training_data) {
  // Where the sum of both columns is above 1030: any mean but that of these rows is wrong for the others.
  std::string rows = "f_a,f_b,y\n";
  for (int i = 0; i < 40; ++i)
    rows.append(std::to_string(1000 + i) + "," + std::to_string(0.001 * (i % 7)) +
                (i >= 20 ? ",pos\n" : ",neg\n"));
  write_content(folder_ / "train.csv", rows);
  write_content(folder_ / "validation.csv", "f_b,f_a,y\n0.003,1036,pos\n0.002,1039,pos\n0,1031,pos\n");
  exits(0, train_numbers("{Standardize: x}, "));
  std::filesystem::remove(folder_ / "train.csv");
  EXPECT_EQ(accuracy({}), 1);
  write_content(folder_ / "new.csv", "y,f_b,f_a\npos,0.001,1038\n");
  const Outcome infer = tpack({"infer", checkpoint(), folder_ / "new.csv", "--format", "csv"});
  EXPECT_THAT(infer.out, HasSubstr(":2,pos,")) << infer.err;
  const json fitted = json::parse(tpack({"ckpt", "inspect", checkpoint(), "--json"}).out).at("fitted");
  EXPECT_EQ(fitted.back().at("map"), "standardize x");
  const Outcome other = exits(2, tpack({"eval", checkpoint(), "--set",
                                        "data.validation=[{CSV: {file: " + (folder_ / "validation.csv") +
                                            ", columns: {x: ['f_.*']}, labels: {y: y}}}, {Standardize: x}, "
                                            "{Standardize: x}, {BatchData: {batch_size: 1}}]"}));
  EXPECT_TRUE(says(other.err, {"'standardize x 2' (it has", "give both flows the same"}));
}

TEST_F(LearnedData, a_flow_without_the_fitted_map_of_the_training_is_noticed) {
  write_content(
      folder_ / "a.yaml",
      "tpack: 1\nmax_epoch: 1\nsteps_per_epoch: 1\nengine: {threads: 1, algorithm: heuristic}\n"
      "optimizer: SGD\ncallbacks: [InferenceRunner: {data: validation}]\n"
      "data:\n  train: [{CSV: {file: train.csv, columns: {x: ['f_.*']}, labels: {y: y}}}, {Standardize: x}, "
      "{BatchData: {batch_size: 8}}]\n"
      "  validation: [{CSV: {file: validation.csv, columns: {x: ['f_.*']}, labels: {y: y}}}, {BatchData: "
      "{batch_size: 8}}]\n"
      "model:\n  inputs: {x: {shape: [2]}, y: {shape: [], dtype: int32}}\n"
      "  layers: [FullyConnected: {name: fc, input: x, units: 2}]\n"
      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: y}]\n");
  const Outcome outcome = exits(0, tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run"}));
  EXPECT_TRUE(says(outcome.err, {"data.validation has no standardize", "its 'x' reaches the model"}));
}

TEST_F(LearnedData, check_counts_the_classes_of_what_is_learned) {
  write_content(folder_ / "train.csv", "c,y\na,no\nb,yes\nc,no\na,no\nb,yes\nc,no\na,no\nb,yes\n");
  write_content(folder_ / "validation.csv", "c,y\nb,yes\nc,no\n");
  const Outcome trained =
      train("labels: {c: c, y: y}",
            "model:\n  inputs: {c: {shape: [], dtype: int32}, y: {shape: [], dtype: int32}}\n"
            "  layers: [Embedding: {name: fc, input: c, entries: 3, units: 2}]\n");
  EXPECT_TRUE(says(trained.err, {"data.train: 8 rows in 2 classes (no: 5, yes: 3)"}));
}

TEST_F(LearnedData, a_variable_that_is_set_changes_what_was_written) {
  ASSERT_EQ(train_numbers().code, 0);
  write_content(folder_ / "wrong.csv", "f_a,f_b,y\n-2,2,pos\n2,2,neg\n");
  EXPECT_EQ(accuracy({"--set", "vars.file=wrong.csv"}), 0);
}

TEST_F(LearnedData, a_setting_without_effect_is_an_error) {
  ASSERT_EQ(train_numbers().code, 0);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"eval", checkpoint()},
                                                  {"check", folder_ / "a.yaml"},
                                                  {"train", folder_ / "a.yaml"}}) {
    const Words words = joined(command, {"--set", "vars.unused=2"});
    const Outcome outcome = tpack(words);
    EXPECT_EQ(outcome.code, 2) << words[0];
    EXPECT_TRUE(says(outcome.err, {"no expression in the config uses"}));
  }
}

TEST_F(LearnedData, a_resume_that_would_drop_variables_is_rejected) {
  ASSERT_EQ(train_numbers().code, 0);
  const Outcome outcome = tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run", "--resume",
                                 "auto", "--set", "max_epoch=21", "--set", "model.layers.fc.use_bias=false"});
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_TRUE(says(last_line(outcome.err), {"model/fc/b", "optimizer/", "`init`"}));
}

TEST_F(LearnedData, a_flow_that_no_callback_uses_is_checked) {
  ASSERT_EQ(train_numbers().code, 0);
  write_content(folder_ / "bad.csv", "f_b,y\n1,pos\n");
  const Outcome outcome = exits(2, tpack({"check", folder_ / "a.yaml", "--set", "callbacks=[ModelSaver]",
                                          "--set", "vars.file=bad.csv"}));
  EXPECT_THAT(outcome.err, HasSubstr("lacks column 'f_a'"));
}

TEST_F(LearnedData, a_flow_that_skips_bad_rows_knows_the_length_of_an_epoch) {
  std::string rows = "f_a,f_b,y\n";
  for (int i = 0; i < 5; ++i) rows += "1,2,pos\n,2,neg\n-1,2,neg\n-1,1,neg\n1,1,pos\n";
  write_content(folder_ / "train.csv", rows);
  ASSERT_EQ(train_numbers().code, 3);
  const std::vector<std::string> skipping = {"--set", "steps_per_epoch=data",
                                             "--set", "data.train.on_error=skip",
                                             "--set", "data.train.BatchData.batch_size=2",
                                             "--set", "max_epoch=1"};
  const Words words = joined({"train", folder_ / "a.yaml", "--log-dir", folder_ / "skipping"}, skipping);
  exits(0, tpack(words));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "skipping/checkpoints/model-10.h5")) << "of 20 good rows";
}

}  // namespace
}  // namespace tpack
