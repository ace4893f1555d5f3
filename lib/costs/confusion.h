#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <vector>

#include "model/cost.h"
#include "ops/arg_max.h"
#include "ops/concat.h"
#include "ops/one_hot.h"

namespace tpack {

/// Predicted and actual classes of samples of one of several classes: one-hot, floats [N, C]. Among equal
/// scores, the first class is predicted; if a score is not finite, none. A label that is not a class number
/// is also none. Ignored samples are zeros in both.
struct ClassAnswers {
  Symbol predicted;
  Symbol actual;
  Symbol samples;  // the number of samples, without ignored ones
  Symbol counts;   // [N], 0 for ignored samples; empty: all count
};

/// The fields of metrics of one of several classes.
struct ClassAnswerFields {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  std::optional<int64_t> ignore_label;
};

/// 0 for ignored labels, else 1.
inline Symbol counts_of(Builder& b, Symbol labels, int64_t ignored) {
  return b.sub(1.0, b.to_float(b.equal(labels, static_cast<double>(ignored))));
}

/// Shapes: logits [N, C], labels int32 [N]; for pixels, logits [N, C, H, W], labels [N, H, W]. Errors: as
/// ModelView::class_numbers.
inline ClassAnswers class_answers(const ModelView& model, const ClassAnswerFields& fields) {
  const Ref<LayerOutput>& logits = fields.logits;
  Builder& b = model.builder();
  const Symbol scores = b.to_float(model.scores(logits, fields.labels));
  if (scores.shape().rank() != 2)
    throw ShapeError(
        logits.position,
        "the scores of classes must be [N, classes], or [N, classes, height, width] for pixels; output " +
            logits.name + " has shape " + scores.shape().str());
  const Symbol numbers = model.class_numbers(fields.labels, scores);
  const int64_t classes = scores.shape()[1];
  const Symbol is_number = b.equal(b.reduce_sum(b.sub(scores, scores), {1}, Builder::Keep::kYes), 0.0);
  const Symbol best = one_hot(b, b.emit<ArgMax>({1}, {scores}).out(), classes);
  const Symbol predicted = b.mul(best, b.to_float(is_number));
  const Symbol actual = one_hot(b, numbers, classes);
  const auto all = static_cast<double>(numbers.shape()[0]);
  if (!fields.ignore_label) return {predicted, actual, b.constant(all), {}};
  const Symbol counts = counts_of(b, numbers, *fields.ignore_label);
  const Symbol by_row = b.reshape(counts, {numbers.shape()[0], 1});
  return {b.mul(predicted, by_row), b.mul(actual, by_row), b.reduce_sum(counts), counts};
}

template <std::derived_from<ClassAnswerFields> P>
Schema<P> with_class_answers(Schema<P> schema) {
  return schema
      .field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits),
             "scores [N, classes], or [N, classes, height, width] for pixels")
      .required()
      .field("labels", static_cast<Ref<LayerOutput> P::*>(&P::labels),
             "class numbers, int32 [N], or [N, height, width] for pixels")
      .required()
      .field("ignore_label", static_cast<std::optional<int64_t> P::*>(&P::ignore_label),
             "samples or pixels with this label do not count");
}

/// The diagonal of the confusion matrix and its sums over rows and columns: for each class the number of
/// right, predicted and actual samples. [3, C]
inline Symbol confusion_sums(Builder& b, const ClassAnswers& answers) {
  std::vector<Symbol> rows;
  for (const Symbol& samples : {b.mul(answers.predicted, answers.actual), answers.predicted, answers.actual})
    rows.push_back(b.reduce_sum(samples, {0}, Builder::Keep::kYes));
  return concat(b, rows, 0);
}

/// The total of such sums, and the number of samples.
class ConfusionTotal {
 public:
  /// The parts of an accumulation: the sums, then the number.
  explicit ConfusionTotal(std::span<const double> parts)
      : ConfusionTotal(parts.first(parts.size() - 1), parts.back()) {}
  ConfusionTotal(std::span<const double> sums, double samples)
      : sums_(sums), classes_(sums.size() / 3), samples_(samples) {}

  size_t classes() const { return classes_; }
  double right(size_t c) const { return sums_[c]; }
  double predicted(size_t c) const { return sums_[classes_ + c]; }
  double actual(size_t c) const { return sums_[2 * classes_ + c]; }
  double samples() const { return samples_; }
  double all_right() const { return total(&ConfusionTotal::right); }
  double all_predicted() const { return total(&ConfusionTotal::predicted); }
  double all_actual() const { return total(&ConfusionTotal::actual); }
  /// The number of pairs of any prediction and any label with the same class.
  double equal_pairs() const {
    double pairs = 0;
    for (size_t c = 0; c < classes_; ++c) pairs += predicted(c) * actual(c);
    return pairs;
  }

 private:
  double total(double (ConfusionTotal::*of_class)(size_t) const) const {
    double sum = 0;
    for (size_t c = 0; c < classes_; ++c) sum += (this->*of_class)(c);
    return sum;
  }

  std::span<const double> sums_;
  size_t classes_;
  double samples_;
};

}  // namespace tpack
