#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "costs/binary_prediction.h"
#include "costs/confusion.h"

namespace tpack {

/// The predictions that a metric uses, and how several classes become one number.
enum class ClassAverage : uint8_t { kBinary, kMicro, kMacro, kWeighted };
template <>
struct EnumNames<ClassAverage> {
  static constexpr std::array<std::pair<const char*, ClassAverage>, 4> kNames = {
      {{"binary", ClassAverage::kBinary},
       {"micro", ClassAverage::kMicro},
       {"macro", ClassAverage::kMacro},
       {"weighted", ClassAverage::kWeighted}}};
};

/// The fields of metrics of binary labels, or of one of several classes.
struct ClassRatioFields : BinaryPredictionFields {
  ClassAverage average = ClassAverage::kBinary;
  std::optional<int64_t> class_number;

  bool is_binary() const { return average == ClassAverage::kBinary && !class_number; }
};

template <std::derived_from<ClassRatioFields> P>
Schema<P> with_class_ratio(Schema<P> schema) {
  return schema
      .field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits),
             "scores: [N, ...] for binary labels, [N, classes] for classes, [N, classes, height, width] for "
             "pixels")
      .required()
      .field("labels", static_cast<NumberOrOutput P::*>(&P::labels),
             "binary labels: an output of the logits' size, or a number for all; above 0.5 means positive. "
             "Classes: class numbers, int32 [N], or [N, height, width] for pixels")
      .required()
      .field("average", static_cast<ClassAverage P::*>(&P::average),
             "binary: binary labels, all outputs together. For one of several classes: macro, the mean over "
             "the classes that occur as predicted or actual; weighted, the mean weighted by the number of "
             "actual samples; micro, computed from the sums over all classes")
      .field("class", static_cast<std::optional<int64_t> P::*>(&P::class_number), at_least(0),
             "the number of a class: the figure of only this class, instead of an average")
      .field("threshold", static_cast<double P::*>(&P::threshold), between(0, 1),
             "for binary: minimum probability of a positive prediction; above 0 and below 1")
      .field("ignore_label", static_cast<std::optional<int64_t> P::*>(&P::ignore_label),
             "samples, pixels or outputs with this label do not count");
}

/// 2 right / (predicted + actual), and such ratios with other weights: (p + a) right / (p predicted + a
/// actual), where p and a are not negative. The ratio of a class without predicted and actual samples is 0.
struct ClassRatio {
  double of_predicted = 0;
  double of_actual = 0;
  bool of_union = false;  // instead: right / (predicted or actual)

  double operator()(double right, double predicted, double actual) const {
    if (of_union) return predicted + actual == 0 ? 0 : right / (predicted + actual - right);
    const double all = of_predicted * predicted + of_actual * actual;
    return all == 0 ? 0 : (of_predicted + of_actual) * right / all;
  }
};

/// Takes the parts of ConfusionTotal.
class ClassRatioAccumulation final : public Accumulation {
 public:
  ClassRatioAccumulation(ClassRatio ratio, ClassAverage average, std::optional<int64_t> class_number)
      : ratio_(ratio), average_(average), class_(class_number) {}

  double value(std::span<const double> parts) const override {
    const ConfusionTotal total(parts);
    if (total.samples() == 0) return std::numeric_limits<double>::quiet_NaN();
    if (class_) return of_class(total, static_cast<size_t>(*class_));
    if (average_ == ClassAverage::kMicro || average_ == ClassAverage::kBinary)
      return ratio_(total.all_right(), total.all_predicted(), total.all_actual());
    double sum = 0;
    double weight = 0;
    for (size_t c = 0; c < total.classes(); ++c) {
      if (total.predicted(c) + total.actual(c) == 0) continue;
      const double of_this = average_ == ClassAverage::kWeighted ? total.actual(c) : 1;
      sum += of_this * of_class(total, c);
      weight += of_this;
    }
    return weight == 0 ? 0 : sum / weight;
  }

 private:
  double of_class(const ConfusionTotal& total, size_t c) const {
    return ratio_(total.right(c), total.predicted(c), total.actual(c));
  }

  ClassRatio ratio_;
  ClassAverage average_;
  std::optional<int64_t> class_;
};

/// `owner`: "metric Precision"; `plain`: the average that is used with `class`. Errors: ConfigError.
inline void check_class_ratio(const ClassRatioFields& fields, ClassAverage plain, const std::string& owner) {
  if (fields.class_number && fields.average != plain)
    throw ConfigError(owner + ": 'class' selects one class, and 'average' combines all; remove one of them");
  if (fields.is_binary()) return check_binary_prediction(fields, owner);
  if (fields.threshold != BinaryPredictionFields().threshold)
    throw ConfigError(owner +
                      ": 'threshold' applies only to average: binary; with classes, the one with the best "
                      "score is predicted");
  if (fields.labels.output.empty())
    throw ConfigError(fields.labels.output.position,
                      owner + ": 'labels' is " + shortest(fields.labels.number) +
                          "; for classes, it must be an output or input with class numbers, int32 [N]");
}

/// The result of binary_prediction, with advice for class numbers in errors. Errors: as binary_prediction.
inline BinaryPrediction binary_answers(const ModelView& model, const ClassRatioFields& fields,
                                       const std::string& owner) {
  const Ref<LayerOutput>& labels = fields.labels.output;
  if (!labels.empty()) {
    const Symbol scores = model.output(fields.logits);
    const Symbol given = model.output(labels);
    const bool are_classes = scores.shape().rank() == 2 && scores.shape()[1] > 1 &&
                             given.shape() == Shape{scores.shape()[0]} && !is_float(given.dtype());
    if (are_classes)
      throw ShapeError(
          labels.position,
          owner + ": '" + labels.name + "' is " + given.spec().str() + ", but '" + fields.logits.name +
              "' has " + std::to_string(scores.shape()[1]) +
              " scores for each sample; for class numbers, write average: macro, micro or weighted");
  }
  return binary_prediction(model, fields, owner);
}

/// For binary labels: the parts of one class, [3, 1].
inline Symbol binary_confusion_sums(const ModelView& model, const ClassRatioFields& fields,
                                    const std::string& owner) {
  Builder& b = model.builder();
  const BinaryPrediction answers = binary_answers(model, fields, owner);
  const Symbol expected = b.mul(b.constant(1, answers.given.shape()), answers.expected);
  std::vector<Symbol> rows;
  for (const Symbol& samples : {b.mul(answers.given, expected), answers.given, expected})
    rows.push_back(b.reshape(b.reduce_sum(samples), {1, 1}));
  return concat(b, rows, 0);
}

/// Shapes: ([3, C], N), C = 1 for binary labels. Errors: as class_answers and binary_prediction; ConfigError
/// for a class that does not exist.
inline SumAndWeight class_ratio(const ModelView& model, const ClassRatioFields& fields, ClassRatio ratio,
                                const std::string& owner) {
  Builder& b = model.builder();
  const auto accumulation =
      std::make_shared<const ClassRatioAccumulation>(ratio, fields.average, fields.class_number);
  if (fields.is_binary()) {
    const double samples = static_cast<double>(model.output(fields.logits).shape()[0]);
    return {binary_confusion_sums(model, fields, owner), b.constant(samples), accumulation};
  }
  const ClassAnswers answers =
      class_answers(model, {fields.logits, fields.labels.output, fields.ignore_label});
  const int64_t classes = answers.actual.shape()[1];
  if (fields.class_number && *fields.class_number >= classes)
    throw ConfigError(fields.logits.position, owner + ": 'class' is " + std::to_string(*fields.class_number) +
                                                  "; '" + fields.logits.name + "' has the scores of " +
                                                  std::to_string(classes) + " classes, 0 to " +
                                                  std::to_string(classes - 1));
  return {confusion_sums(b, answers), answers.samples, accumulation};
}

}  // namespace tpack
