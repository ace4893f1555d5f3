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

/// How well a model predicts each class. For one of several classes, it is the confusion matrix; if a sample
/// may have several labels, a 2 x 2 matrix for each label.
class ClassReport {
 public:
  /// The largest number of classes of a target with a report.
  static constexpr int64_t kMostClasses = 1000;

  /// Precision, recall and F1 are 0 if their divisor is 0.
  struct Row {
    std::string name;
    double precision = 0;
    double recall = 0;
    double f1 = 0;
    double samples = 0;    // with this class as label
    double predicted = 0;  // predicted as this class
  };

  /// The number of classes in a report on the target: two for a single binary label. 0: it has no report.
  static int64_t classes_of(const PredictionTarget& target);
  /// The names of these classes, if the data has names: a single binary label gets two from one name.
  static std::vector<std::string> names_of(const PredictionTarget& target, std::vector<std::string> of_data);
  /// The counted numbers.
  static size_t parts_of(const PredictionTarget& target);
  /// Counts a batch. Among equal scores the first class is predicted; if a score is not finite, none. Samples
  /// with an ignored or invalid label do not count.
  static void count(const PredictionTarget& target, const Tensor& predictions, const Tensor& targets,
                    std::span<double> parts);

  /// Whether it has two classes, and its threshold chooses one.
  static bool tells_two(const PredictionTarget& target);
  /// Whether it has a threshold: for two classes, and for sets of labels.
  static bool has_threshold(const PredictionTarget& target);
  /// The predicted class of a row of [N, classes], or of a pixel of [N, classes, H, W], with `pixels` per
  /// image; empty if a score is not finite.
  static std::optional<int64_t> predicted(const PredictionTarget& target, const Tensor& predictions,
                                          int64_t row, int64_t pixels = 1);
  /// Whether the probability of a logit reaches the threshold, so the prediction is positive.
  static bool is_yes(const PredictionTarget& target, double logit);

  /// `names`: of the classes, in order; classes without a name get numbers.
  ClassReport(const PredictionTarget& target, const std::vector<std::string>& names,
              std::vector<double> parts);

  const std::string& term() const { return term_; }
  const std::vector<std::string>& classes() const { return classes_; }
  /// One for each class.
  const std::vector<Row>& rows() const { return rows_; }
  /// The mean over classes (without those that are neither predicted nor actual), and the mean over samples.
  Row macro() const;
  Row weighted() const;
  double samples() const;
  /// "recall.CLASS", "precision.CLASS" or "f1.CLASS"; nothing for other names.
  std::optional<double> figure(const std::string& name) const;
  /// Whether a name has this form, with any class.
  static bool may_be_figure(const std::string& name);
  /// These names, for classes with a name.
  static std::vector<std::string> figures_of(const std::vector<std::string>& classes);
  /// The number of samples with right class or labels.
  double accuracy() const;
  /// False for sets of labels, where a sample may have several.
  bool has_matrix() const { return !is_set_; }
  /// The number of samples of class `actual` predicted as class `predicted`; the number of classes means no
  /// prediction.
  double count(size_t actual, size_t predicted) const;
  Matrix matrix() const;

  /// Two tables for a terminal: the classes, and the matrix. For many classes, the worst ones, and the most
  /// confused pairs.
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
