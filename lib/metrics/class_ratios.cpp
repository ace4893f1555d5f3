// Ratios of the counts of right, predicted and actual samples, a row each.
#include <array>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "costs/binary_prediction.h"
#include "costs/confusion.h"

namespace tpack {
namespace {

/// The predictions that a metric uses, and how several classes become one number.
enum class ClassAverage : uint8_t { kBinary, kMicro, kMacro, kWeighted };

}  // namespace

template <>
struct EnumNames<ClassAverage> {
  static constexpr std::array<std::pair<const char*, ClassAverage>, 4> kNames = {
      {{"binary", ClassAverage::kBinary},
       {"micro", ClassAverage::kMicro},
       {"macro", ClassAverage::kMacro},
       {"weighted", ClassAverage::kWeighted}}};
};

namespace {

/// The fields of metrics of binary labels, or of one of several classes.
struct ClassRatioFields : BinaryPredictionFields {
  ClassAverage average = ClassAverage::kBinary;
  std::optional<int64_t> class_number;
  double beta = 1;  // of FBeta

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

/// Numbers of samples, of one class or of all.
struct Counts {
  double right;
  double predicted;
  double actual;
};
/// 0 of nothing.
double share_of(double some, double all) { return all == 0 ? 0 : some / all; }

/// A metric that is a ratio of counts.
struct RatioRow {
  const char* name = "";
  const char* scope = "";
  ClassAverage average = ClassAverage::kMacro;  // the default
  double (*ratio)(const Counts& n, double beta) = nullptr;
  const char* summary = "";
  const char* example = "";
  bool has_beta = false;
  /// For binary labels: the divisor of the right predictions, if it is a single count.
  enum class Of : uint8_t { kBoth, kPredicted, kActual } of = Of::kBoth;
};

/// Takes the parts of ConfusionTotal.
class ClassRatioAccumulation final : public Accumulation {
 public:
  ClassRatioAccumulation(const RatioRow& row, const ClassRatioFields& fields)
      : row_(row), beta_(fields.beta), average_(fields.average), class_(fields.class_number) {}

  double value(std::span<const double> parts) const override {
    const ConfusionTotal total(parts);
    if (total.samples() == 0) return std::numeric_limits<double>::quiet_NaN();
    if (class_) return of_class(total, static_cast<size_t>(*class_));
    if (average_ == ClassAverage::kMicro || average_ == ClassAverage::kBinary)
      return row_.ratio({total.all_right(), total.all_predicted(), total.all_actual()}, beta_);
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
    return row_.ratio({total.right(c), total.predicted(c), total.actual(c)}, beta_);
  }

  const RatioRow& row_;
  double beta_;
  ClassAverage average_;
  std::optional<int64_t> class_;
};

/// `owner`: "metric Precision"; `plain`: the average that is used with `class`. Errors: ConfigError.
void check_class_ratio(const ClassRatioFields& fields, ClassAverage plain, const std::string& owner) {
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
BinaryPrediction binary_answers(const ModelView& model, const ClassRatioFields& fields,
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

/// For binary labels: ([3, 1], a number that is 0 if no label counts), or (right, what they are a share of).
SumAndWeight binary_ratio(const ModelView& model, const ClassRatioFields& fields, const RatioRow& row,
                          const std::string& owner) {
  Builder& b = model.builder();
  const BinaryPrediction answers = binary_answers(model, fields, owner);
  const Symbol right = b.mul(answers.given, answers.expected);
  if (row.of == RatioRow::Of::kPredicted) return {b.reduce_sum(right), b.reduce_sum(answers.given), share()};
  const Symbol expected = b.mul(b.constant(1, answers.given.shape()), answers.expected);
  if (row.of == RatioRow::Of::kActual) return {b.reduce_sum(right), b.reduce_sum(expected), share()};
  std::vector<Symbol> rows;
  for (const Symbol& samples : {b.mul(answers.given, expected), answers.given, expected})
    rows.push_back(b.reshape(b.reduce_sum(samples), {1, 1}));
  const auto samples = static_cast<double>(model.output(fields.logits).shape()[0]);
  return {concat(b, rows, 0), answers.counts ? b.reduce_sum(answers.counts) : b.constant(samples),
          std::make_shared<const ClassRatioAccumulation>(row, fields)};
}

/// Shapes: ([3, C], N). Errors: as class_answers; ConfigError for a class that does not exist.
SumAndWeight class_ratio(const ModelView& model, const ClassRatioFields& fields, const RatioRow& row,
                         const std::string& owner) {
  Builder& b = model.builder();
  const ClassAnswers answers =
      class_answers(model, {fields.logits, fields.labels.output, fields.ignore_label});
  const int64_t classes = answers.actual.shape()[1];
  if (fields.class_number && *fields.class_number >= classes)
    throw ConfigError(fields.logits.position, owner + ": 'class' is " + std::to_string(*fields.class_number) +
                                                  "; '" + fields.logits.name + "' has the scores of " +
                                                  std::to_string(classes) + " classes, 0 to " +
                                                  std::to_string(classes - 1));
  return {confusion_sums(b, answers), answers.samples,
          std::make_shared<const ClassRatioAccumulation>(row, fields)};
}

/// Among equal scores, the first class is predicted; if a score is not finite, none. Shapes: for binary
/// labels, logits [N, ...], labels of the same shape (or a number for all) -> ([3, 1], N), or (right, what
/// they are a share of); for classes, logits [N, C], labels int32 [N] -> ([3, C], N).
template <const RatioRow& kRow>
class RatioMetric final : public Metric {
 public:
  struct Params : ClassRatioFields {
    Params() { average = kRow.average; }
  };
  static Schema<Params> schema() {
    const std::string summary = kRow.summary;
    Schema<Params> schema =
        with_class_ratio(Schema<Params>(summary + " It is exact over all samples, for any batches."));
    schema.example(kRow.example);
    if (!kRow.has_beta) return schema;
    return schema
        .field("beta", static_cast<double Params::*>(&Params::beta), above(0),
               "weight of recall: above 1, recall counts more than precision; below 1, less; 1: F1")
        .required();
  }
  explicit RatioMetric(Params p) : p_(std::move(p)) { check_class_ratio(p_, kRow.average, owner()); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), kRow.scope, p_.logits.position);
    return p_.is_binary() ? binary_ratio(model, p_, kRow, owner()) : class_ratio(model, p_, kRow, owner());
  }

 private:
  static std::string owner() { return std::string("metric ") + kRow.name; }
  Params p_;
};

double f_beta(const Counts& n, double beta) {
  return share_of((1 + beta * beta) * n.right, n.predicted + beta * beta * n.actual);
}

constexpr RatioRow kPrecision{.name = "Precision",
                              .scope = "precision",
                              .average = ClassAverage::kBinary,
                              .ratio = [](const Counts& n, double) { return share_of(n.right, n.predicted); },
                              .summary =
                                  "Share of positive predictions with a positive label, or of samples "
                                  "predicted as a class that belong to it; 0 if there are none.",
                              .example = "Precision: {logits: logits, labels: tags}",
                              .of = RatioRow::Of::kPredicted};
/// right / predicted. For binary labels, these are positive predictions. For classes, among equal scores the
/// first class is predicted; if a score is not finite, none. Shapes: logits [N, ...], labels of the same
/// shape (or a number for all) -> (right positives, predicted positives); logits [N, C], labels int32 [N] ->
/// ([3, C], N). Source: tensorpack callbacks/inference.py, BinaryClassificationStats; for classes,
/// scikit-learn's precision_score with zero_division=0.
using Precision = RatioMetric<kPrecision>;
TPACK_REGISTER(Metric, Precision, "Precision");

constexpr RatioRow kRecall{.name = "Recall",
                           .scope = "recall",
                           .average = ClassAverage::kBinary,
                           .ratio = [](const Counts& n, double) { return share_of(n.right, n.actual); },
                           .summary =
                               "Share of positive labels that are predicted positive, or of samples of a "
                               "class that are predicted as it; 0 if there are none.",
                           .example = "Recall: {logits: logits, labels: tags}",
                           .of = RatioRow::Of::kActual};
/// right / actual. For binary labels, these are positive labels. For classes, among equal scores the first
/// class is predicted; if a score is not finite, none. Shapes: logits [N, ...], labels of the same shape (or
/// a number for all) -> (right positives, actual positives); logits [N, C], labels int32 [N] -> ([3, C], N).
/// Source: tensorpack callbacks/inference.py, BinaryClassificationStats; for classes, scikit-learn's
/// recall_score with zero_division=0.
using Recall = RatioMetric<kRecall>;
TPACK_REGISTER(Metric, Recall, "Recall");

constexpr RatioRow kF1{.name = "F1",
                       .scope = "f1",
                       .ratio = f_beta,
                       .summary =
                           "Harmonic mean of precision and recall, for samples of one of several classes, "
                           "or, with average: binary, for binary labels.",
                       .example = "F1: {logits: logits, labels: label}"};
/// 2 right / (predicted + actual) of each class. Among equal scores, the first class is predicted; if a score
/// is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N); for binary labels, logits [N,
/// ...], labels of the same shape (or a number for all) -> ([3, 1], N). Source: scikit-learn's f1_score with
/// zero_division=0.
using F1 = RatioMetric<kF1>;
TPACK_REGISTER(Metric, F1, "F1", "Dice");

constexpr RatioRow kFBeta{.name = "FBeta",
                          .scope = "f_beta",
                          .ratio = f_beta,
                          .summary = "F1 where recall counts beta times as much as precision.",
                          .example = "FBeta: {logits: logits, labels: label, beta: 2}",
                          .has_beta = true};
/// (1 + beta^2) right / (predicted + beta^2 actual) of each class. Among equal scores, the first class is
/// predicted; if a score is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N); for
/// binary labels, logits [N, ...], labels of the same shape (or a number for all) -> ([3, 1], N). Source:
/// scikit-learn's fbeta_score with zero_division=0.
using FBeta = RatioMetric<kFBeta>;
TPACK_REGISTER(Metric, FBeta, "FBeta");

constexpr RatioRow kIoU{
    .name = "IoU",
    .scope = "iou",
    .ratio = [](const Counts& n, double) { return share_of(n.right, n.predicted + n.actual - n.right); },
    .summary =
        "Intersection over union of predicted and actual pixels (Jaccard index): the mean over classes, or, "
        "with average: binary, for binary labels of pixels.",
    .example = "IoU: {logits: logits, labels: label}"};
/// right / (predicted or actual) of each class, counted over all samples. Among equal scores, the first class
/// is predicted; if a score is not finite, none. Shapes: as F1. Source: Everingham et al. 2010, "The Pascal
/// Visual Object Classes (VOC) Challenge"; scikit-learn's jaccard_score.
using IoU = RatioMetric<kIoU>;
TPACK_REGISTER(Metric, IoU, "IoU", "MeanIoU", "JaccardIndex");

}  // namespace
}  // namespace tpack
