#include "evaluation/sample_losses.h"

#include <cmath>
#include <limits>

#include "predict/class_report.h"

namespace tpack {
namespace {

/// Mean over the elements of a row.
double loss_of(const Tensor& losses, int64_t row) {
  const int64_t elements = losses.elements() / losses.shape()[0];
  double sum = 0;
  for (int64_t i = row * elements; i < (row + 1) * elements; ++i) sum += losses.at(i);
  const double mean = sum / static_cast<double>(elements);
  return std::isfinite(mean) ? mean : std::numeric_limits<double>::infinity();
}

/// The probability of a class in the softmax of a row.
double softmax_of(const Tensor& scores, int64_t row, int64_t classes, int64_t of) {
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c)
    sum += std::exp(scores.at(row * classes + c) - scores.at(row * classes + of));
  return 1 / sum;
}

}  // namespace

std::optional<ComparedSample> compared_sample(const TargetBatch& batch, int64_t row) {
  const PredictionTarget& target = batch.target;
  const int64_t samples = batch.predictions.shape()[0];
  const int64_t width = batch.targets.elements() / samples;
  bool counts = false;
  for (int64_t i = row * width; i < (row + 1) * width; ++i)
    counts |= !target.ignored || batch.targets.at(i) != *target.ignored;
  if (!counts) return std::nullopt;
  ComparedSample sample;
  sample.loss = loss_of(batch.losses, row);
  const int64_t elements = batch.predictions.elements() / samples;
  const bool is_whole = batch.predictions.shape().rank() == 2;  // no pixels
  if (target.has_scores() && is_whole) {
    const double label = batch.targets.at(row);
    if (!(label >= 0 && label < static_cast<double>(elements))) return std::nullopt;
    sample.actual = static_cast<int64_t>(label);
    sample.predicted = ClassReport::predicted(target, batch.predictions, row).value_or(-1);
    if (sample.predicted >= 0)
      sample.confidence = softmax_of(batch.predictions, row, elements, sample.predicted);
  } else if (target.has_logits() && elements == 1) {
    const double x = batch.predictions.at(row);
    sample.actual = batch.targets.at(row) > 0.5 ? 1 : 0;
    if (std::isfinite(x)) {
      sample.predicted = ClassReport::is_yes(target, x) ? 1 : 0;
      sample.confidence = 1 / (1 + std::exp(sample.predicted == 1 ? -x : x));
    }
  }
  return sample;
}

}  // namespace tpack
