#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "core/text.h"
#include "model/cost.h"

namespace tpack {

/// The common fields of costs and metrics of binary labels.
struct BinaryFields {
  Ref<LayerOutput> logits;  // their sigmoid is the probability of a positive label
  NumberOrOutput labels;
};

/// `owner`: "cost SigmoidCrossEntropy". Errors: ConfigError for a label that is not a probability.
inline void check_labels(const BinaryFields& fields, const std::string& owner) {
  const NumberOrOutput& labels = fields.labels;
  if (!labels.output.empty() || (labels.number >= 0 && labels.number <= 1)) return;
  throw ConfigError(labels.output.position,
                    owner + ": 'labels' is " + shortest(labels.number) + "; must be from 0 to 1");
}

/// The logits. Errors: ConfigError, also for the output of a sigmoid.
inline Symbol logits_of(const ModelView& model, const BinaryFields& fields, const std::string& owner) {
  const Symbol x = model.output(fields.logits);
  const OutputMeaning meaning = model.builder().meaning(x);
  if (meaning.sums_to_one) {
    throw ConfigError(fields.logits.position,
                      "'logits' of " + owner + ": '" + fields.logits.name +
                          "' is the output of a softmax, which chooses one of several classes; this " +
                          owner.substr(0, owner.find(' ')) +
                          " needs binary labels for each output; for two classes, use one output (units: 1) "
                          "with SigmoidCrossEntropy");
  }
  if (!meaning.is_probability()) return x;
  throw ConfigError(fields.logits.position, "'logits' of " + owner + ": '" + fields.logits.name +
                                                "' is the output of a sigmoid, which the " +
                                                owner.substr(0, owner.find(' ')) +
                                                " applies itself; name the output before the sigmoid");
}

/// The pair that losses of binary labels compare; empty if the label is one number for all.
inline std::optional<PredictionTarget> binary_target(const ModelView& model, const BinaryFields& fields) {
  if (fields.labels.output.empty()) return std::nullopt;
  const Symbol logits = model.output(fields.logits);
  return PredictionTarget{TargetClasses::of_logits(logits.shape()), logits,
                          model.output(fields.labels.output), fields.labels.output.name};
}

/// Predictions and labels of a metric of binary labels, as floats 0 and 1 in the logits' shape (or one number
/// for all).
struct BinaryPrediction {
  Symbol given;  // the sigmoid is above the threshold
  Builder::Operand expected;
  Symbol counts =
      {};  // 1, and 0 for ignored labels, which are also 0 in `given` and `expected`; empty: all count
};

/// The fields of these metrics.
struct BinaryPredictionFields : BinaryFields {
  double threshold = 0.5;
  std::optional<int64_t> ignore_label;
};

template <std::derived_from<BinaryPredictionFields> P>
Schema<P> with_binary_prediction(Schema<P> schema) {
  return schema.field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits), "scores [N, ...]")
      .required()
      .field("labels", static_cast<NumberOrOutput P::*>(&P::labels),
             "an output of the logits' size, or a number for all; above 0.5 means positive")
      .required()
      .field("threshold", static_cast<double P::*>(&P::threshold), between(0, 1),
             "minimum probability of a positive prediction; above 0 and below 1")
      .field("ignore_label", static_cast<std::optional<int64_t> P::*>(&P::ignore_label),
             "elements with this label do not count");
}

/// Errors: ConfigError.
inline void check_binary_prediction(const BinaryPredictionFields& fields, const std::string& owner) {
  if (fields.threshold == 0 || fields.threshold == 1)
    throw ConfigError(owner + ": 'threshold' is " + shortest(fields.threshold) +
                      "; must be above 0 and below 1");
  check_labels(fields, owner);
}

/// Errors: as logits_of, and ShapeError.
inline BinaryPrediction binary_prediction(const ModelView& model, const BinaryPredictionFields& fields,
                                          const std::string& owner) {
  Builder& b = model.builder();
  const Symbol x = logits_of(model, fields, owner);
  const Builder::Operand labels = model.like(fields.labels, x);
  const Symbol given = b.to_float(b.greater(x, std::log(fields.threshold / (1 - fields.threshold))));
  if (!labels.symbol) return {given, labels.value > 0.5 ? 1.0 : 0.0};
  const Symbol expected = b.to_float(b.greater(labels, 0.5));
  if (!fields.ignore_label) return {given, expected};
  const Symbol counts =
      b.sub(1.0, b.to_float(b.equal(labels.symbol, static_cast<double>(*fields.ignore_label))));
  return {b.mul(given, counts), b.mul(expected, counts), counts};
}

}  // namespace tpack
