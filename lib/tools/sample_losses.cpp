#include "tools/sample_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tpack {
namespace {

/// log(1 + e^x) without overflow.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double finite_or_worst(double loss) {
  return std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
}

std::optional<JudgedSample> of_class(const JudgedBatch& batch, int64_t row, int64_t classes) {
  const double label = batch.targets.at(row);
  if (!(label >= 0 && label < static_cast<double>(classes))) return std::nullopt;
  JudgedSample sample;
  sample.actual = static_cast<int64_t>(label);
  const auto score = [&](int64_t c) { return batch.predictions.at(row * classes + c); };
  sample.predicted = 0;
  for (int64_t c = 1; c < classes; ++c)
    if (score(c) > score(sample.predicted)) sample.predicted = c;
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(score(c) - score(sample.predicted));
  sample.confidence = 1 / sum;
  sample.loss = finite_or_worst(score(sample.predicted) - score(sample.actual) + std::log(sum));
  return sample;
}

std::optional<JudgedSample> of_elements(const JudgedBatch& batch, int64_t row, int64_t elements) {
  const bool is_yes_or_no = batch.judgement.kind == Judgement::Kind::kYesOrNo;
  double sum = 0;
  int64_t counted = 0;
  for (int64_t i = row * elements; i < (row + 1) * elements; ++i) {
    const double target = batch.targets.at(i);
    const double x = batch.predictions.at(i);
    if (batch.judgement.ignored && target == *batch.judgement.ignored) continue;
    sum += is_yes_or_no ? target * softplus(-x) + (1 - target) * softplus(x) : (x - target) * (x - target);
    ++counted;
  }
  if (counted == 0) return std::nullopt;
  JudgedSample sample;
  sample.loss = finite_or_worst(sum / static_cast<double>(counted));
  if (is_yes_or_no && elements == 1) {
    const double x = batch.predictions.at(row);
    sample.actual = batch.targets.at(row) > 0.5 ? 1 : 0;
    sample.predicted = x > 0 ? 1 : 0;
    sample.confidence = std::exp(-softplus(-std::abs(x)));
  }
  return sample;
}

}  // namespace

std::optional<JudgedSample> judged_sample(const JudgedBatch& batch, int64_t row) {
  const int64_t samples = batch.predictions.shape()[0];
  const int64_t elements = batch.predictions.elements() / samples;
  if (batch.judgement.kind != Judgement::Kind::kClass) return of_elements(batch, row, elements);
  if (batch.judgement.ignored && batch.targets.at(row) == *batch.judgement.ignored) return std::nullopt;
  return of_class(batch, row, elements);
}

const char* loss_name(const Judgement& judgement) {
  return judgement.kind == Judgement::Kind::kNumbers ? "squared difference" : "cross entropy";
}

}  // namespace tpack
