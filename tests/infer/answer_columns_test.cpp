#include "infer/answer_columns.h"

#include <algorithm>

#include <gmock/gmock-matchers.h>

#include "core/error.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

/// Probabilities of three classes, and a value, of data whose column `kind` has the classes.
class AnswerColumnsTest : public testing::Test {
 protected:
  Words fields(const Words& words, const std::map<std::string, std::string>& texts = {}) {
    Prediction p{
        "a.csv:7", {Tensor::of<float>({3}, {0.25F, 0.5F, 0.25F}), Tensor::of<float>({2}, {1, 2.5F})}, ""};
    p.columns = texts;
    p.truth = Tensor::of<int32_t>({}, {2});
    p.index = 5;
    const Answers answers(options_);
    return AnswerColumns(words, answers).fields(p);
  }
  std::string complaint(const Words& words) {
    try {
      fields(words);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  WriterOptions options_{.format = "csv",
                         .outputs = {{.name = "p", .width = 3, .classes = 3}, {.name = "code", .width = 2}},
                         .labels = {"bad", "fair", "good"},
                         .columns = {},
                         .true_columns = {"kind"}};
};

TEST_F(AnswerColumnsTest, has_a_name_for_all_that_is_known_of_a_sample) {
  EXPECT_THAT(fields({"file", "index", "prediction", "score", "true", "p.good", "probability.bad", "code"}),
              ElementsAre("a.csv:7", "5", "fair", "0.5", "good", "0.25", "0.25", "1 2.5"));
}

TEST_F(AnswerColumnsTest, the_column_of_the_training_data_is_the_prediction_wherever_samples_come_from) {
  EXPECT_THAT(fields({"id", "kind"}, {{"id", "17"}, {"kind", "good"}}), ElementsAre("17", "fair"));
  EXPECT_THAT(fields({"id", "kind"}, {{"id", "17"}}), ElementsAre("17", "fair"));
}

TEST_F(AnswerColumnsTest, a_column_of_the_input_hides_a_name_but_not_behind_a_header) {
  EXPECT_THAT(fields({"score", "s=score", "n=id", "file", "at=file"},
                     {{"score", "high"}, {"id", "17"}, {"file", "b.png"}}),
              ElementsAre("high", "0.5", "17", "b.png", "a.csv:7"));
  const Answers answers(options_);
  EXPECT_THAT(AnswerColumns({"id", "s=score"}, answers).header(), ElementsAre("id", "s"));
}

TEST_F(AnswerColumnsTest, says_once_of_each_column_that_it_is_that_of_the_input) {
  const Answers answers(options_);
  AnswerColumns columns({"score", "index", "id"}, answers);
  Prediction p{"a.csv:7", {}, "is bad"};
  p.columns = {{"score", "high"}, {"index", "3"}, {"id", "17"}};
  testing::internal::CaptureStderr();
  for (int sample = 0; sample < 2; ++sample) columns.fields(p);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
  EXPECT_THAT(said, HasSubstr("write score=score"));
  EXPECT_THAT(said, HasSubstr("write index=index"));
}

TEST_F(AnswerColumnsTest, asks_for_the_columns_that_it_needs) {
  const Answers answers(options_);
  const WantedColumns wanted = AnswerColumns({"id", "score", "s=true", "kind"}, answers).wanted();
  EXPECT_THAT(wanted.required, ElementsAre("id"));
  EXPECT_THAT(wanted.optional, ElementsAre("score"));
  EXPECT_THAT(wanted.others, HasSubstr("prediction, score, probability.bad, probability.fair"));
  EXPECT_TRUE(AnswerColumns::ask_for_truth({"id", "s=true"}));
  EXPECT_FALSE(AnswerColumns::ask_for_truth({"true=prediction"}));
}

TEST_F(AnswerColumnsTest, says_what_is_wrong_with_a_name) {
  EXPECT_THAT(complaint({"p.godo"}), HasSubstr("no class 'godo'; did you mean 'good'?"));
  EXPECT_THAT(complaint({"probability"}),
              HasSubstr("needs a class; write prediction, score, probability.bad"));
  EXPECT_THAT(complaint({"=prediction"}), HasSubstr("write HEADER=NAME"));
  options_.outputs[1].name = "prediction";
  EXPECT_THAT(complaint({"prediction"}), HasSubstr("rename it in predict.outputs"));
}

/// The probability of the second of two classes, 0.3.
TEST_F(AnswerColumnsTest, tells_two_classes_by_one_number) {
  options_ = {
      .outputs = {{.name = "p", .width = 1, .classes = 2}}, .labels = {"no", "yes"}, .threshold = 0.25};
  Prediction p{"a.csv:7", {Tensor::of<float>({1}, {0.3F})}, ""};
  p.truth = Tensor::of<float>({1}, {0});
  const Answers answers(options_);
  EXPECT_THAT(AnswerColumns({"prediction", "score", "p", "probability.no", "true"}, answers).fields(p),
              ElementsAre("yes", "0.3", "0.3", "0.7", "no"));
  options_.labels.clear();
  options_.threshold = 0.5;
  EXPECT_THAT(AnswerColumns({"prediction", "score", "true"}, answers).fields(p),
              ElementsAre("0", "0.7", "0"));
}

TEST_F(AnswerColumnsTest, each_column_of_a_set_says_whether_its_label_holds) {
  options_ = {.outputs = {{.name = "p", .width = 2, .is_label_set = true}},
              .labels = {"red", "round"},
              .true_columns = {"red", "round"}};
  Prediction p{"a.csv:7", {Tensor::of<float>({2}, {0.9F, 0.2F})}, ""};
  p.columns = {{"red", "0"}};
  p.truth = Tensor::of<float>({2}, {1, 1});
  const Answers answers(options_);
  EXPECT_THAT(AnswerColumns({"red", "round", "prediction", "true", "probability.round"}, answers).fields(p),
              ElementsAre("1", "0", "red", "red;round", "0.2"));
}

TEST_F(AnswerColumnsTest, leaves_empty_what_a_bad_sample_has_not) {
  Prediction p{"a.csv:7", {}, "is bad"};
  const Answers answers(options_);
  EXPECT_THAT(AnswerColumns({"file", "kind", "code"}, answers).fields(p), ElementsAre("a.csv:7", "", ""));
}

}  // namespace
}  // namespace tpack
