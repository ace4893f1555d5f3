#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "predict/evaluator.h"

namespace tpack {

/// The goal of choosing a threshold.
struct ThresholdGoal {
  enum class Kind : uint8_t {
    kF1,         // the highest F1 of the second class
    kRecall,     // at least this recall, with the highest precision
    kPrecision,  // at least this precision, with the highest recall
    kLowestCost  // the lowest cost, where a missed positive costs `value` false alarms
  };
  Kind kind = Kind::kF1;
  double value = 0;

  /// "f1", "recall=0.9", "precision=0.9" or "cost=5". Errors: ConfigError.
  static ThresholdGoal parse(const std::string& text);
};

/// Finds the threshold for predicting the second of two classes. Pass `see` to Evaluator::run_part.
class ThresholdChoice {
 public:
  struct Figures {
    double threshold = 0.5;
    double precision = 0;
    double recall = 0;
    double f1 = 0;
    double cost = 0;  // false alarms, and missed positives weighted by the goal
  };

  /// Errors: ConfigError if no term of the cost is a binary classification.
  explicit ThresholdChoice(const Evaluator& evaluator, ThresholdGoal goal = {});
  void see(int64_t batch, std::span<const TargetBatch> compared);

  /// The middle between the probabilities of two samples; of equally good ones, the threshold nearest to 0.5.
  /// Errors: DataError if no threshold has the precision, or if the class has no samples.
  Figures best() const;
  /// The figures of a threshold.
  Figures at(double threshold) const;

  /// A table with the best one and with 0.5.
  std::string str() const;
  nlohmann::ordered_json to_json() const;

 private:
  struct Sample {
    double probability;  // of the second class
    bool is_second;
  };
  Figures figures(double threshold, double right, double said, double actual) const;
  std::vector<Figures> candidates() const;
  bool is_better(const Figures& a, const Figures& b) const;
  bool is_allowed(const Figures& one) const;

  ThresholdGoal goal_;
  size_t target_ = 0;
  std::string name_;  // of the second class
  std::vector<Sample> samples_;
};

}  // namespace tpack
