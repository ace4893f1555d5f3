#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "predict/evaluator.h"

namespace tpack {

/// Finds the probability from which the second of two classes should be said for the highest F1 of that
/// class. Give `see` to Evaluator::run_part.
class ThresholdChoice {
 public:
  struct Figures {
    double threshold = 0.5;
    double precision = 0;
    double recall = 0;
    double f1 = 0;
  };

  /// Errors: ConfigError if no term of the cost tells two classes.
  explicit ThresholdChoice(const Evaluator& evaluator);
  void see(int64_t batch, std::span<const JudgedBatch> judged);

  /// In the middle between the probabilities of two samples; of equal F1, the threshold nearest to 0.5.
  Figures best() const;
  /// Of a threshold.
  Figures at(double threshold) const;

  /// A table with the best one and with 0.5.
  std::string str() const;
  nlohmann::ordered_json to_json() const;

 private:
  struct Sample {
    double probability;  // of the second class
    bool is_second;
  };
  static Figures figures(double threshold, double right, double said, double actual);

  size_t judgement_ = 0;
  std::string name_;  // of the second class
  std::vector<Sample> samples_;
};

}  // namespace tpack
