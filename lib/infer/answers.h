#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infer/prediction_writer.h"

namespace tpack {

/// An element; single precision as the double with the same short text.
double element(const Tensor& value, int64_t index);

/// The texts of a prediction, by the names of `--columns`.
class Answers {
 public:
  /// Keeps a reference.
  explicit Answers(const WriterOptions& options);

  /// The first output with one of several classes, and the first set of labels; the class, the labels.
  std::optional<size_t> classes() const { return classes_; }
  std::optional<size_t> set() const { return set_; }
  /// The best classes of a good prediction.
  std::vector<Ranked> ranked(const Prediction& p) const;
  std::vector<std::string> labels(const Prediction& p) const;
  /// Text of an output: its values separated by spaces, or the path of its picture.
  std::string values(const Prediction& p, size_t output) const;
  /// Whether an output is not covered by `ranked` and `labels`.
  bool has_more(size_t output) const;

  using Text = std::function<std::string(const Prediction&)>;
  /// The text function of a column for good predictions: prediction, score, true, the name of an output,
  /// OUTPUT.CLASS or probability.CLASS; nothing for other names. Errors: ConfigError for an unknown class and
  /// for an ambiguous name.
  std::optional<Text> find(const std::string& name) const;
  /// The same for a column with the true values in the training data: its prediction.
  std::optional<Text> find_predicted(const std::string& column) const;
  /// All names of `find` except true, with prediction first.
  std::vector<std::string> names() const;

 private:
  struct Element {
    size_t output;
    int64_t index;  // of the class
  };
  std::vector<std::string> class_names(size_t output) const;
  std::optional<Element> class_element(const std::string& name) const;
  std::string probability(const Prediction& p, const Element& of) const;
  std::string prediction(const Prediction& p) const;
  std::string truth(const Prediction& p) const;
  Text text_of_output(size_t output) const;

  const WriterOptions& options_;
  std::optional<size_t> classes_;
  std::optional<size_t> set_;
};

}  // namespace tpack
