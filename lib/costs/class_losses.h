#pragma once

#include <functional>
#include <optional>
#include <string>

#include "costs/class_weights.h"
#include "costs/loss.h"

namespace tpack {

/// The common parameters of losses of one class out of several.
struct ClassificationParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  ClassWeights class_weights;
  double label_smoothing = 0;
  std::optional<int64_t> ignore_label = {};
};

/// Fields with those of ClassificationParams, for the schema of a loss whose Params derive from it.
Schema<ClassificationParams> classification_schema(const std::string& summary);

/// Logits [N, C], labels int32 [N], with class 0 for ignored samples. For pixels, N is the number of all
/// pixels.
struct Classification {
  Symbol logits;
  Symbol labels;
  Symbol counts;  // [N], 0 for ignored samples; empty: all count
  Shape losses;   // [samples], for pixels [samples, H, W]
};

/// `owner`: "cost FocalLoss". Errors: ConfigError, ShapeError.
Classification classification(const ModelView& model, const ClassificationParams& p,
                              const std::string& owner);

/// The pair that such losses compare.
PredictionTarget class_target(const ModelView& model, const ClassificationParams& p);

/// The loss [N] of the sample's label, and the losses [N, C] of all classes, for smoothing.
struct ClassLosses {
  Symbol of_label;
  std::function<Symbol()> of_classes;
};

/// The losses with smoothing, class weights and ignored labels. With smoothing s the loss is that of a target
/// distribution with 1 - s + s / C for the label and s / C for each other class, in which the loss of each
/// class has its weight: sum_c w_c t_c loss_c, as for soft labels. Source: Szegedy et al. 2016, "Rethinking
/// the Inception Architecture"; PyTorch, except that the divisor is N.
SampleLosses weighted_losses(const ModelView& model, const ClassificationParams& p, const Classification& of,
                             const ClassLosses& losses);

}  // namespace tpack
