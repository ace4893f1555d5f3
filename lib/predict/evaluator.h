#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "backend/model_handle.h"
#include "backend/program.h"
#include "graph/statistic.h"
#include "input/input_source.h"

namespace tpack {

/// Which of several evaluators of one flow this is: number `index` takes every `count`-th batch.
struct EvaluationShard {
  int64_t index = 0;
  int64_t count = 1;
};

/// Takes the statistics of a tower in inference over a whole flow: each sample of one pass counts exactly
/// once, those of a last, smaller batch like all others. Several evaluators may share the batches of a flow;
/// their tallies add up.
/// Threads: one caller, the one that runs other programs of the device. The flow must outlive it.
class Evaluator {
 public:
  /// Enough to keep the workers busy; the training queue keeps its own memory meanwhile.
  static constexpr int64_t kBatchesInMemory = 4;

  /// Builds the graph for a whole batch, to know the statistics; `name` is the flow's, for messages and the
  /// plan. Errors: ConfigError, ShapeError, as check_evaluation_flow and bind_inputs.
  Evaluator(std::string name, const ModelHandle& place, const DataFlow& flow, uint64_t seed,
            const Position& where = {}, EvaluationShard shard = {});

  /// "cost", "accuracy", ...: what inference has of them; terms that exist in training only are not there.
  const std::vector<std::string>& statistics() const { return statistics_; }
  /// Which values of one of them are better, where that is known.
  std::optional<Goal> goal(size_t index) const { return goals_[index]; }
  StatisticGoals goals() const;
  /// Compiles for whole batches and for the remainder of a pass now rather than in the first `run`. The
  /// device must have its variables. `choosing`: for the first of them; rules choose for the remainder.
  void compile(Choosing choosing = Choosing::kMeasured);

  using Result = std::vector<std::pair<std::string, double>>;
  /// One pass: name and value, over all samples, in the order of `statistics`. Errors:
  /// SampleError; DataError for a flow without batches; Stopped.
  Result run(const std::stop_token& stop = {});

  /// Its part of a pass, which may have no batch. Errors: SampleError; Stopped.
  void run_part(const std::stop_token& stop = {});
  /// What the last pass gave: totals in the order of `statistics`, and how many batches they are of.
  const std::vector<Tally>& tallies() const { return tallies_; }
  int64_t batches() const { return batches_; }
  /// What the last pass was fed that made a statistic NaN or infinite: "input 'x' (a.yaml:12:5) has nan at
  /// [3, 0] of batch 7; it is in component 'x' of data.validation: remove or replace such values"; "" if it
  /// was not the data.
  const std::string& bad_input() const { return bad_input_; }
  /// To add up those of several evaluators, and what they say together. Errors: DataError for no batches.
  std::vector<Tally> zeros() const;
  Result result_of(int64_t batches, const std::vector<Tally>& total) const;

 private:
  Graph graph(const Signature& fed) const;
  std::unique_ptr<InputReader> open() const;
  void look_for_bad_input(std::span<const Tensor> batch, int64_t number);

  std::string name_;
  ModelHandle place_;
  const DataFlow& flow_;
  uint64_t seed_;
  std::vector<size_t> components_;
  Signature nominal_;  // of a whole batch
  Program program_;
  std::vector<std::string> statistics_;
  std::vector<std::optional<Goal>> goals_;
  std::vector<Tally> tallies_;  // of the last pass
  int64_t batches_ = 0;
  std::string bad_input_;
  EvaluationShard shard_;
};

}  // namespace tpack
