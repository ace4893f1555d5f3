#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "draw/matrix.h"
#include "graph/tower_function.h"

namespace tpack {

/// How well each class is told, of samples that a model has compared. Of one of several classes it is the
/// confusion matrix; of labels of which a sample may have several, a yes and a no for each of them.
class ClassReport {
 public:
  /// A target has a report if it has at most so many classes.
  static constexpr int64_t kMostClasses = 1000;

  /// Precision, recall and F1 are 0 where they are a share of nothing.
  struct Row {
    std::string name;
    double precision = 0;
    double recall = 0;
    double f1 = 0;
    double samples = 0;    // that are of the class
    double predicted = 0;  // that are taken for it
  };

  /// Classes that a report on the target has: for a logit of one yes or no, two. 0: it has no report.
  static int64_t classes_of(const PredictionTarget& target);
  /// The names of these classes, where the data has names: one label that holds or not makes two of one name.
  static std::vector<std::string> names_of(const PredictionTarget& target, std::vector<std::string> of_data);
  /// Numbers that are counted for it.
  static size_t parts_of(const PredictionTarget& target);
  /// Counts a batch. Of equal scores the first class is predicted; of scores that are not all finite, none.
  /// Samples whose label is ignored, or is not the number of a class, do not count.
  static void count(const PredictionTarget& target, const Tensor& predictions, const Tensor& targets,
                    std::span<double> parts);

  /// Whether it tells two classes, of which its threshold chooses one.
  static bool tells_two(const PredictionTarget& target);
  /// Whether its threshold chooses something: for two classes, and for sets of labels.
  static bool has_threshold(const PredictionTarget& target);
  /// The predicted class of a row of [N, classes], or of a pixel of [N, classes, H, W], where each image has
  /// `pixels`; nothing if some score is not finite.
  static std::optional<int64_t> predicted(const PredictionTarget& target, const Tensor& predictions,
                                          int64_t row, int64_t pixels = 1);
  /// Whether the probability of a logit reaches the threshold, which means yes.
  static bool is_yes(const PredictionTarget& target, double logit);

  /// `names`: of the classes, in order; numbers stand for those that have none.
  ClassReport(const PredictionTarget& target, const std::vector<std::string>& names,
              std::vector<double> parts);

  const std::string& term() const { return term_; }
  const std::vector<std::string>& classes() const { return classes_; }
  /// One for each class.
  const std::vector<Row>& rows() const { return rows_; }
  /// The mean over classes, without those that are neither predicted nor actual, and that over samples.
  Row macro() const;
  Row weighted() const;
  double samples() const;
  /// "recall.CLASS", "precision.CLASS" or "f1.CLASS"; nothing for other names.
  std::optional<double> figure(const std::string& name) const;
  /// Whether a name is of that form, whatever the classes are.
  static bool may_be_figure(const std::string& name);
  /// Those names, of classes that have one.
  static std::vector<std::string> figures_of(const std::vector<std::string>& classes);
  /// Samples whose class, or whose labels, are told.
  double accuracy() const;
  /// False for sets of labels, where a sample may have several.
  bool has_matrix() const { return !is_set_; }
  /// Samples of class `actual` that are taken for class `predicted`; for the number of classes, for none.
  double count(size_t actual, size_t predicted) const;
  Matrix matrix() const;

  /// Two tables for a terminal: the classes, and the matrix. Of many classes the worst, and the pairs that
  /// are taken for each other most often.
  std::string str() const;
  nlohmann::ordered_json to_json() const;

 private:
  Row mean(const std::string& name, const std::function<double(const Row&)>& weight) const;
  std::string matrix_text() const;
  std::string pairs_text() const;
  void add_row(size_t label, double right, double predicted, double actual);

  std::string term_;
  double threshold_;
  const char* unit_ = "samples";  // or "pixels"
  std::vector<std::string> classes_;
  bool is_set_ = false;
  std::vector<double> parts_;
  std::vector<Row> rows_;
};

}  // namespace tpack
