#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "evaluation/sample_losses.h"

namespace tpack {

/// The results of a model for all samples of a flow, in order. Pass `see` to Evaluator::run_part.
class ComparedSamples {
 public:
  /// Errors: ConfigError if no term of the cost compares samples.
  explicit ComparedSamples(const Evaluator& evaluator);
  void see(int64_t batch, std::span<const TargetBatch> compared);

  const std::vector<ComparedSample>& samples() const { return samples_; }
  const std::vector<double>& targets() const { return targets_; }
  const std::string& loss() const { return loss_; }  // the term
  bool has_classes() const { return !samples_.empty() && samples_[0].actual >= 0; }

 private:
  std::vector<ComparedSample> samples_;
  std::vector<double>
      targets_;  // the first one of each sample, to check that two models saw the same samples
  std::string loss_;
};

/// A figure of two models on the same samples, with the uncertainty of the difference.
struct ComparedFigure {
  std::string name;
  double first = 0;
  double second = 0;
  double low = 0;  // 95 % interval of the difference second - first, from resampling
  double high = 0;
  Goal goal = Goal::kMin;

  /// "noise", "the first is better" or "the second is better".
  std::string verdict() const;
};

/// The mean of the term of the cost; for classes, also accuracy and mean F1. The interval is the percentile
/// bootstrap over the common samples with 1,000 resamples and a fixed key, where each sample is drawn a
/// Poisson(1) number of times (Chamandy et al. 2012). Errors: DataError if the two did not see the same
/// samples, or do not have the same term of the cost.
std::vector<ComparedFigure> compare_models(const ComparedSamples& first, const ComparedSamples& second);

std::string str(const std::vector<ComparedFigure>& figures);
nlohmann::ordered_json to_json(const std::vector<ComparedFigure>& figures);

}  // namespace tpack
