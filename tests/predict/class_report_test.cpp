#include "predict/class_report.h"

#include <cmath>
#include <map>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "graph/builder.h"

namespace tpack {
namespace {

/// What kind of predictions; null: numbers.
using Classes = TargetClasses (*)(const Shape&);

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A target of batches of that shape, and what it counted.
class Counted {
 public:
  Counted(Classes classes, const Shape& predictions, std::optional<double> ignored = {}) {
    Builder b(graph_, table_, {Phase::kInference, DType::kFloat32});
    target_.predictions = b.input("x", {DType::kFloat32, predictions});
    if (classes != nullptr) target_.classes = classes(predictions);
    target_.ignored = ignored;
    target_.term = "term";
    parts_.resize(ClassReport::parts_of(target_));
  }
  Counted& add(const std::vector<float>& predictions, const std::vector<float>& targets) {
    const auto rows = target_.predictions.shape()[0];
    const auto width = static_cast<int64_t>(predictions.size()) / rows;
    const auto targets_width = static_cast<int64_t>(targets.size()) / rows;
    const Shape& shape = target_.predictions.shape();
    ClassReport::count(target_,
                       Tensor::of<float>(shape.rank() == 4 ? shape : Shape{rows, width}, predictions),
                       Tensor::of<float>({rows, targets_width}, targets), parts_);
    return *this;
  }
  ClassReport report(const std::vector<std::string>& names = {}) const { return {target_, names, parts_}; }
  const PredictionTarget& target() const { return target_; }
  Counted& from(double threshold) {
    target_.threshold = threshold;
    return *this;
  }

 private:
  Graph graph_;
  VariableTable table_;
  PredictionTarget target_;
  std::vector<double> parts_;
};

/// Scores whose highest is that of `best`.
std::vector<float> scores_of(const std::vector<int>& best, int classes) {
  std::vector<float> scores;
  for (const int b : best)
    for (int c = 0; c < classes; ++c) scores.push_back(c == b ? 2.0F : 0.0F);
  return scores;
}

/// Two images of two pixels: scores of class 0 of both pixels, then of class 1.
TEST(ClassReport, counts_pixels) {
  const ClassReport report = Counted(&TargetClasses::of_scores, {2, 2, 1, 2}, 255)
                                 .add({1, 0, 0, 1, 5, 5, 0, 0}, {0, 1, 1, 255})
                                 .report({"a", "b"});
  ASSERT_EQ(report.rows().size(), 2U);
  EXPECT_EQ(report.samples(), 3);
  EXPECT_EQ(report.rows()[0].recall, 1);
  EXPECT_EQ(report.rows()[0].precision, 0.5);
  EXPECT_EQ(report.rows()[1].recall, 0.5);
}

/// Values of scikit-learn's classification_report for these labels, rounded.
TEST(ClassReport, has_precision_recall_and_f1_of_each_class) {
  const ClassReport report =
      Counted(&TargetClasses::of_scores, {10, 3})
          .add(scores_of({0, 2, 1, 0, 2, 1, 2, 2, 0, 1}, 3), {0, 1, 2, 0, 1, 2, 2, 2, 0, 0})
          .report({"a", "b", "c"});
  ASSERT_EQ(report.rows().size(), 3U);
  EXPECT_NEAR(report.rows()[0].precision, 1, 1e-12);
  EXPECT_NEAR(report.rows()[0].recall, 0.75, 1e-12);
  EXPECT_NEAR(report.rows()[0].f1, 6.0 / 7, 1e-12);
  EXPECT_EQ(report.rows()[1].f1, 0);
  EXPECT_NEAR(report.rows()[2].precision, 0.5, 1e-12);
  EXPECT_EQ(report.rows()[2].samples, 4);
  EXPECT_NEAR(report.macro().precision, 0.5, 1e-12);
  EXPECT_NEAR(report.macro().f1, (6.0 / 7 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(report.weighted().precision, 0.6, 1e-12);
  EXPECT_NEAR(report.weighted().recall, report.accuracy(), 1e-12) << "they are the same by definition";
  EXPECT_EQ(report.accuracy(), 0.5);
  EXPECT_EQ(report.count(1, 2), 2);
  EXPECT_EQ(report.matrix().at(2, 1), 2);
}

/// As the metrics Precision, Recall and F1, and scikit-learn, have it.
TEST(ClassReport, the_mean_leaves_out_classes_that_are_neither_predicted_nor_actual) {
  const ClassReport report =
      Counted(&TargetClasses::of_scores, {2, 4}).add(scores_of({0, 1}, 4), {0, 0}).report();
  EXPECT_NEAR(report.macro().recall, 0.25, 1e-12) << "the mean of class 0, 1 of 2, and class 1, none";
  EXPECT_NEAR(report.macro().precision, 0.5, 1e-12);
}

TEST(ClassReport, adds_up_over_batches) {
  Counted parts(&TargetClasses::of_scores, {1, 2});
  parts.add({1, 0}, {0}).add({0, 1}, {0}).add({0, 1}, {1});
  const ClassReport whole =
      Counted(&TargetClasses::of_scores, {3, 2}).add({1, 0, 0, 1, 0, 1}, {0, 0, 1}).report();
  EXPECT_EQ(parts.report().matrix().values, whole.matrix().values);
  EXPECT_THAT(whole.matrix().values, ElementsAre(1, 1, 0, 1));
}

TEST(ClassReport, counts_neither_ignored_labels_nor_numbers_of_no_class) {
  const ClassReport report =
      Counted(&TargetClasses::of_scores, {4, 2}, -1).add({1, 0, 1, 0, 1, 0, 0, 1}, {-1, 2, 0, 1}).report();
  EXPECT_EQ(report.samples(), 2);
  EXPECT_EQ(report.accuracy(), 1);
}

TEST(ClassReport, scores_that_are_not_finite_predict_no_class) {
  const ClassReport report = Counted(&TargetClasses::of_scores, {2, 2}).add({NAN, 1, 1, 0}, {0, 0}).report();
  EXPECT_EQ(report.count(0, 2), 1);
  EXPECT_EQ(report.rows()[0].recall, 0.5);
  EXPECT_THAT(report.str(), HasSubstr("(none)"));
}

/// Probabilities 0.2, 0.4 and 0.9 of the second class, or of the label.
TEST(ClassReport, says_yes_from_a_threshold_on) {
  const std::vector<float> logits = {std::log(0.25F), std::log(2.0F / 3), std::log(9.0F)};
  std::vector<float> scores;
  std::vector<float> pairs;  // of two labels, of which the second one is always a yes
  for (const float logit : logits) {
    scores.insert(scores.end(), {1.5F, 1.5F + logit});
    pairs.insert(pairs.end(), {logit, 20});
  }
  const auto said = [&](double threshold, Classes classes) {
    const bool is_one = classes == &TargetClasses::of_logits;
    return Counted(classes, {3, is_one ? 1 : 2})
        .from(threshold)
        .add(is_one ? logits : scores, {0, 0, 1})
        .report();
  };
  const std::map<double, int> yes_by_threshold = {{0.0, 3}, {0.1, 3},  {0.3, 2}, {0.5, 1},
                                                  {0.8, 1}, {0.95, 0}, {1.0, 0}};
  for (const auto& [threshold, yes] : yes_by_threshold) {
    EXPECT_EQ(said(threshold, &TargetClasses::of_logits).rows()[1].predicted, yes) << threshold;
    EXPECT_EQ(said(threshold, &TargetClasses::of_scores).rows()[1].predicted, yes) << threshold;
    const ClassReport set =
        Counted(&TargetClasses::of_logits, {3, 2}).from(threshold).add(pairs, {0, 1, 0, 1, 1, 1}).report();
    EXPECT_EQ(set.rows()[0].predicted, yes) << threshold;
    EXPECT_EQ(set.rows()[1].predicted, threshold < 1 ? 3 : 0) << threshold;
  }
  const ClassReport report = said(0.3, &TargetClasses::of_scores);
  EXPECT_THAT(report.str(), HasSubstr("'1' is predicted if its probability is at least 0.3"));
  EXPECT_EQ(report.to_json().at("threshold"), 0.3);
  EXPECT_THAT(said(0.5, &TargetClasses::of_scores).str(), Not(HasSubstr("is predicted if")));
}

/// Of pixels, too: scores of class 0 of both, then of class 1.
TEST(ClassReport, has_a_threshold_for_pixels) {
  const ClassReport report =
      Counted(&TargetClasses::of_scores, {1, 2, 1, 2}).from(0.3).add({1, 5, 0.5, 0}, {1, 0}).report();
  EXPECT_THAT(report.matrix().values, ElementsAre(1, 0, 0, 1))
      << "0.38 of the first pixel, 0.007 of the second";
}

TEST(ClassReport, one_yes_or_no_makes_two_classes) {
  Counted counted(&TargetClasses::of_logits, {4, 1});
  counted.add({1, -1, 1, -1}, {1, 1, 0, 0});
  EXPECT_EQ(ClassReport::classes_of(counted.target()), 2);
  const ClassReport report = counted.report();
  EXPECT_THAT(report.classes(), ElementsAre("no", "yes"));
  EXPECT_THAT(report.matrix().values, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(counted.report({"0", "1"}).classes(), ElementsAre("0", "1"));
}

/// The label is the yes.
TEST(ClassReport, one_label_that_has_a_name_is_the_second_class) {
  const Counted counted(&TargetClasses::of_logits, {4, 1});
  EXPECT_THAT(ClassReport::names_of(counted.target(), {"gone"}), ElementsAre("not gone", "gone"));
  EXPECT_THAT(ClassReport::names_of(counted.target(), {"no", "yes"}), ElementsAre("no", "yes"));
  EXPECT_THAT(ClassReport::names_of(counted.target(), {}), ElementsAre());
  const Counted set(&TargetClasses::of_logits, {4, 2});
  EXPECT_THAT(ClassReport::names_of(set.target(), {"a", "b"}), ElementsAre("a", "b"));
}

TEST(ClassReport, a_set_of_labels_has_a_row_for_each_and_no_matrix) {
  const ClassReport report = Counted(&TargetClasses::of_logits, {3, 2}, -1)
                                 .add({1, -1, 1, 1, -1, -1}, {1, 0, 1, 0, 1, -1})
                                 .report({"cat", "dog"});
  EXPECT_FALSE(report.has_matrix());
  EXPECT_EQ(report.rows()[0].precision, 1);
  EXPECT_NEAR(report.rows()[0].recall, 2.0 / 3, 1e-12);
  EXPECT_EQ(report.rows()[1].precision, 0);
  EXPECT_EQ(report.rows()[1].samples, 0);
  EXPECT_EQ(report.samples(), 3);
  EXPECT_NEAR(report.accuracy(), 1.0 / 3, 1e-12) << "samples whose labels are all right";
  EXPECT_FALSE(report.to_json().contains("confusion"));
}

TEST(ClassReport, a_set_whose_labels_are_all_ignored_does_not_count_and_no_number_is_not_right) {
  const ClassReport report = Counted(&TargetClasses::of_logits, {3, 2}, -1)
                                 .add({1, 1, NAN, -1, -1, -1}, {-1, -1, 0, 0, 0, 0})
                                 .report();
  EXPECT_EQ(report.samples(), 2);
  EXPECT_EQ(report.accuracy(), 0.5);
}

TEST(ClassReport, there_is_none_of_numbers_of_maps_and_of_too_many_classes) {
  EXPECT_EQ(ClassReport::classes_of(Counted(nullptr, {2, 3}).target()), 0);
  EXPECT_EQ(ClassReport::classes_of(Counted(&TargetClasses::of_logits, {2, 1, 4, 4}).target()), 0);
  EXPECT_EQ(ClassReport::classes_of(Counted(&TargetClasses::of_scores, {1, 1001}).target()), 0);
  EXPECT_EQ(ClassReport::classes_of(Counted(&TargetClasses::of_scores, {1, 1000}).target()), 1000);
}

TEST(ClassReport, shows_the_worst_of_many_classes_and_what_they_are_taken_for) {
  Counted counted(&TargetClasses::of_scores, {40, 40});
  std::vector<int> best(40);
  std::vector<float> labels(40);
  for (int i = 0; i < 40; ++i) {
    best[static_cast<size_t>(i)] = i == 7 ? 8 : i;
    labels[static_cast<size_t>(i)] = static_cast<float>(i);
  }
  const std::string text = counted.add(scores_of(best, 40), labels).report().str();
  EXPECT_THAT(text, HasSubstr("the 10 classes with the lowest F1, of 40"));
  EXPECT_THAT(text, HasSubstr("\n7 "));
  EXPECT_THAT(text, HasSubstr("\n7                              8        1\n"));
  EXPECT_THAT(text, Not(HasSubstr("actual \\ predicted")));
}

TEST(ClassReport, as_json_has_all_that_the_tables_show) {
  const auto json = Counted(&TargetClasses::of_scores, {3, 2})
                        .add({1, 0, 0, 1, 0, 1}, {0, 0, 1})
                        .report({"a", "b"})
                        .to_json();
  EXPECT_EQ(json["cost"], "term");
  EXPECT_EQ(json["classes"][1]["class"], "b");
  EXPECT_EQ(json["classes"][1]["precision"], 0.5);
  EXPECT_EQ(json["confusion"].dump(), "[[1.0,1.0],[0.0,1.0]]");
  EXPECT_EQ(json["samples"], 3);
  EXPECT_NEAR(json["macro"]["recall"].get<double>(), 0.75, 1e-12);
}

TEST(ClassReport, has_figures_of_a_class_by_name) {
  Counted counted(&TargetClasses::of_scores, {4, 2});
  counted.add(scores_of({0, 0, 1, 1}, 2), {0, 1, 1, 1});
  const ClassReport report = counted.report({"no", "yes"});
  EXPECT_EQ(report.figure("precision.no"), 0.5);
  EXPECT_EQ(report.figure("recall.yes"), 2.0 / 3);
  EXPECT_EQ(report.figure("f1.no"), 2.0 / 3);
  EXPECT_FALSE(report.figure("recall.maybe"));
  EXPECT_FALSE(report.figure("recall"));
  EXPECT_TRUE(ClassReport::may_be_figure("recall.maybe"));
  EXPECT_FALSE(ClassReport::may_be_figure("recall"));
  EXPECT_THAT(ClassReport::figures_of({"a", "b"}),
              ElementsAre("precision.a", "precision.b", "recall.a", "recall.b", "f1.a", "f1.b"));
}

}  // namespace
}  // namespace tpack
