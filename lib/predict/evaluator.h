#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "backend/model_handle.h"
#include "backend/program.h"
#include "graph/statistic.h"
#include "graph/tower_description.h"
#include "input/input_source.h"
#include "predict/class_report.h"

namespace tpack {

/// The part of one of several evaluators of a flow: number `index` takes every `count`-th batch.
struct EvaluationShard {
  int64_t index = 0;
  int64_t count = 1;
};

/// A batch as a term of the cost compares it.
struct TargetBatch {
  const PredictionTarget& target;
  const Tensor& predictions;
  const Tensor& targets;
  const Tensor& losses;
};

/// Computes the statistics of a tower in inference over a whole flow: each sample of one pass counts exactly
/// once, also in a smaller last batch. Several evaluators may share the batches of a flow; their tallies add
/// up. Threads: one caller, the one that runs other programs of the device. The flow must outlive it.
class Evaluator {
 public:
  /// Enough to keep the workers busy, while the training queue keeps its memory.
  static constexpr int64_t kBatchesInMemory = 4;

  /// Builds the graph for a whole batch, to know the statistics; `name` is the flow's, for messages and the
  /// plan. Errors: ConfigError, ShapeError, as check_evaluation_flow and bind_inputs.
  /// `compared`: kSamples for passes with an observer.
  enum class Detail : uint8_t { kClasses, kSamples };
  Evaluator(std::string name, const ModelHandle& model, const DataFlow& flow, uint64_t seed,
            const Position& where = {}, EvaluationShard shard = {}, Detail detail = Detail::kClasses);

  /// "cost", "accuracy", ...: without terms that only exist in training.
  const std::vector<std::string>& statistics() const { return statistics_; }
  /// Which values of a statistic are better, if known.
  std::optional<Goal> goal(size_t index) const { return goals_[index]; }
  StatisticGoals goals() const;
  /// The meaning of a statistic's number (Metric::form); empty for most.
  const std::string& form(size_t index) const { return forms_[index]; }
  /// Compiles for whole batches and for the remainder of a pass now rather than in the first `run`. The
  /// device must have its variables. `choosing`: for the first of them; rules choose for the remainder.
  void compile(Choosing choosing = Choosing::kMeasured);

  using Result = std::vector<std::pair<std::string, double>>;
  /// One pass: name and value, over all samples, in the order of `statistics`. Errors:
  /// SampleError; DataError for a flow without batches; Stopped.
  Result run(const std::stop_token& stop = {});
  /// The same with reports about classes, one for each target that has one.
  struct Evaluation {
    Result statistics;
    std::vector<ClassReport> classes;
  };

  /// Predictions for each sample, from terms of the cost that compare samples.
  const std::vector<PredictionTarget>& targets() const { return targets_; }
  /// Class names from the data for a target; empty if they have no names.
  const std::vector<std::string>& class_names(size_t target) const { return class_names_[target]; }
  /// Names of figures of one class (ClassReport::figure), for targets that have a report.
  std::vector<std::string> class_figures() const;
  /// The minimum probability for a positive prediction, or the second of two classes, in reports and
  /// `targets`; statistics do not change. Errors: ConfigError if no term of the cost has such a threshold.
  void set_threshold(double threshold);
  int64_t batch_size() const { return *flow_.batch_size(); }
  /// Called with each batch of a pass, its number (from 0), and one value for each of `targets`. Only for
  /// evaluators with kSamples.
  using Observer = std::function<void(int64_t number, std::span<const TargetBatch>)>;

  /// Runs its part of a pass, which may have no batch. Errors: SampleError; Stopped.
  void run_part(const std::stop_token& stop = {}, const Observer& observer = nullptr);
  /// The same over all samples of other batches in the form of the tower's inputs.
  Result run_on(const std::vector<std::vector<Tensor>>& batches);
  /// Those of its part of a pass. Errors: SampleError; Stopped.
  std::vector<std::vector<Tensor>> read_batches(const std::stop_token& stop = {}) const;
  /// Names of the inputs that the predictions of its targets, or without these the statistics, depend on.
  std::vector<std::string> predicting_inputs() const;
  /// The result of the last pass: totals in the order of `statistics`, then the counts of reports, and the
  /// number of batches.
  const std::vector<Tally>& tallies() const { return tallies_; }
  int64_t batches() const { return batches_; }
  /// The input of the last pass that made a statistic NaN or infinite: "input 'x' (a.yaml:12:5) has nan at
  /// [3, 0] of batch 7; it is in component 'x' of data.validation: remove or replace such values"; "" if it
  /// was not the data.
  const std::string& bad_input() const { return bad_input_; }
  /// To add up the tallies of several evaluators, and get their common result. Errors: DataError without
  /// batches.
  std::vector<Tally> zeros() const;
  Evaluation evaluation_of(int64_t batches, const std::vector<Tally>& total) const;

 private:
  Graph build(const Signature& fed) const;
  bool is_fetched(const PredictionTarget& target) const;
  bool has_report_of(const PredictionTarget& target) const;
  std::unique_ptr<InputReader> open() const;
  /// Nothing at the end.
  using Batch = std::optional<std::span<const Tensor>>;
  using NextBatch = std::function<Batch()>;
  void run_over(const NextBatch& next, const Observer& observer);
  void look_for_bad_input(std::span<const Tensor> batch, int64_t number);

  std::string name_;
  ModelHandle model_;
  const DataFlow& flow_;
  uint64_t seed_;
  std::vector<size_t> components_;
  Signature nominal_;  // of a whole batch
  Program program_;
  std::vector<std::string> statistics_;
  std::vector<std::optional<Goal>> goals_;
  std::vector<std::string> forms_;
  const TowerDescription* description_ = nullptr;  // for a whole batch; targets are part of it
  std::vector<PredictionTarget> targets_;
  std::vector<std::vector<std::string>> class_names_;  // of each target
  std::vector<size_t> first_fetch_;                    // of each fetched target
  std::vector<size_t> reports_;                        // targets that have one
  std::vector<Tally> tallies_;                         // of the last pass
  int64_t batches_ = 0;
  std::string bad_input_;
  EvaluationShard shard_;
  Detail detail_;
};

}  // namespace tpack
