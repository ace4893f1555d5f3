#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "evaluation/sample_losses.h"

namespace tpack {

/// What a model makes of all samples of a flow, in their order. Give `see` to Evaluator::run_part.
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
  std::vector<double> targets_;  // the first of each sample, to tell whether two models saw the same
  std::string loss_;
};

/// A figure of two models over the same samples, and how sure their difference is.
struct ComparedFigure {
  std::string name;
  double first = 0;
  double second = 0;
  double low = 0;  // of 95 of 100 samples drawn anew, the difference second - first is from `low` to `high`
  double high = 0;
  Goal goal = Goal::kMin;

  /// "noise", "the first is better" or "the second is better".
  std::string verdict() const;
};

/// The mean of the term of the cost; of classes accuracy and mean F1, too. The interval is the percentile
/// bootstrap over samples, which both models have in common, where each is drawn a number of times that has a
/// Poisson distribution of mean 1 (Chamandy et al. 2012), of 1,000 draws with a fixed key. Errors: DataError
/// if the two did not see the same samples, or do not have the same term of the cost.
std::vector<ComparedFigure> compare_models(const ComparedSamples& first, const ComparedSamples& second);

std::string str(const std::vector<ComparedFigure>& figures);
nlohmann::ordered_json to_json(const std::vector<ComparedFigure>& figures);

}  // namespace tpack
