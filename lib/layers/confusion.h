#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "layers/cost.h"
#include "ops/arg_max.h"
#include "ops/concat.h"
#include "ops/one_hot.h"

namespace tpack {

/// What a model says of samples of one of several classes, and what they are: one-hot, floats [N, C]. Of
/// equal scores, the first class is predicted; of scores that are not all finite, none. A label that is not
/// the number of a class is none, too.
struct ClassAnswers {
  Symbol predicted;
  Symbol actual;
};
/// Shapes: logits [N, C], labels int32 [N]. Errors: as ModelView::class_numbers.
inline ClassAnswers class_answers(const ModelView& model, const Ref<LayerOutput>& logits,
                                  const Ref<LayerOutput>& labels) {
  Builder& b = model.builder();
  const Symbol scores = b.to_float(model.output(logits));
  if (scores.shape().rank() != 2)
    throw ShapeError(logits.position, "the scores of classes must be [N, classes]; output " + logits.name +
                                          " has shape " + scores.shape().str());
  const Symbol numbers = model.class_numbers(labels, scores);
  const int64_t classes = scores.shape()[1];
  const Symbol is_number = b.equal(b.reduce_sum(b.sub(scores, scores), {1}, Builder::Keep::kYes), 0.0);
  const Symbol best = one_hot(b, b.emit<ArgMax>({1}, {scores}).out(), classes);
  return {b.mul(best, b.to_float(is_number)), one_hot(b, numbers, classes)};
}

/// The fields of metrics of one of several classes.
struct ClassAnswerFields {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
};

template <std::derived_from<ClassAnswerFields> P>
Schema<P> with_class_answers(Schema<P> schema) {
  return schema.field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits), "scores [N, classes]")
      .required()
      .field("labels", static_cast<Ref<LayerOutput> P::*>(&P::labels), "class numbers, int32 [N]")
      .required();
}

/// The diagonal of the confusion matrix and its sums over rows and over columns: for each class the number of
/// samples that are right, that are predicted to be of it, and that are. [3, C]
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
  /// Pairs of a prediction and a label of the same class, where any prediction goes with any label.
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
