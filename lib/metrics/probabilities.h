#pragma once

#include <concepts>

#include "model/cost.h"
#include "ops/one_hot.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {

/// The fields of metrics of the quality of probabilities.
struct ProbabilityFields {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
};

template <std::derived_from<ProbabilityFields> P>
Schema<P> with_probabilities(Schema<P> schema) {
  return schema
      .field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits),
             "scores [N, ...] for binary labels, or [N, classes], before or after a sigmoid or softmax")
      .required()
      .field("labels", static_cast<Ref<LayerOutput> P::*>(&P::labels),
             "binary labels in an output of the logits' size, where above 0.5 means positive; or class "
             "numbers, int32 [N]")
      .required();
}

/// Probabilities and actual values, 1 or 0: of each output, or of the classes [N, C].
struct ProbabilitiesAndFacts {
  Symbol probabilities;
  Symbol facts;  // of the same shape
  bool are_classes = false;
};
/// The sigmoid or softmax of the scores, unless they are the output of one. Errors: as ModelView::like and
/// ModelView::class_numbers.
inline ProbabilitiesAndFacts probabilities_and_facts(const ModelView& model,
                                                     const ProbabilityFields& fields) {
  Builder& b = model.builder();
  const Symbol given = model.output(fields.logits);
  const Symbol scores = b.to_float(given);
  const bool are_probabilities = b.meaning(given).is_any_probability();
  const bool are_classes = scores.shape().rank() == 2 && scores.shape()[1] > 1 &&
                           model.output(fields.labels).shape().elements() != scores.shape().elements();
  if (!are_classes) {
    const Symbol labels = model.like({0, fields.labels}, scores).symbol;
    return {are_probabilities ? scores : b.sigmoid(scores), b.to_float(b.greater(labels, 0.5))};
  }
  const Symbol numbers = model.class_numbers(fields.labels, scores);
  return {are_probabilities ? scores : softmax(b, scores), one_hot(b, numbers, scores.shape()[1]), true};
}

}  // namespace tpack
