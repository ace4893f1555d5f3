#include <cstring>
#include <memory>

#include "callbacks/flow_inference.h"
#include "core/stop.h"

namespace tpack {
namespace {

struct DataParallelInferenceRunnerParams : InferenceFields {};

/// The message between ranks: the number of batches, then for each total the number of its parts, and the
/// parts.
std::string message_of(int64_t batches, const std::vector<Tally>& total) {
  std::vector<double> numbers = {static_cast<double>(batches)};
  for (const Tally& tally : total) {
    numbers.push_back(static_cast<double>(tally.parts().size()));
    numbers.insert(numbers.end(), tally.parts().begin(), tally.parts().end());
  }
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

/// Adds the message of a rank.
void add(int64_t& batches, std::vector<Tally>& total, const std::string& message) {
  std::vector<double> numbers(message.size() / sizeof(double));
  std::memcpy(numbers.data(), message.data(), message.size());
  batches += static_cast<int64_t>(numbers[0]);
  auto at = numbers.begin() + 1;
  for (Tally& tally : total) {
    const auto end = at + 1 + static_cast<std::ptrdiff_t>(*at);
    Tally other = tally;
    other.set_parts({at + 1, end});
    tally.add(other);
    at = end;
  }
}

/// Each batch goes to one tower of one rank; totals are added in the order of the towers, those of ranks in
/// the order of the ranks, so all ranks have the same result, in each run. Source: tensorpack
/// callbacks/inference_runner.py, DataParallelInferenceRunner.
class DataParallelInferenceRunner final : public FlowInference {
 public:
  using Params = DataParallelInferenceRunnerParams;
  static Schema<Params> schema() {
    return inferring(Schema<Params>("InferenceRunner on all towers of all ranks: each sample counts exactly "
                                    "once, and every rank gets the statistics of the whole flow. First, all "
                                    "towers get the variables of the first one (moving averages, too)."))
        .example("DataParallelInferenceRunner: {data: validation}");
  }
  explicit DataParallelInferenceRunner(Params p)
      : FlowInference(std::move(p), Ranks::kAll, "each rank takes a part of the data") {}

  /// If several ranks choose kernels, all use the same rules.
  void compile(Run& run) override {
    for (const auto& evaluator : evaluators_)
      evaluator->compile(run.ranks() > 1 ? Choosing::kByRules : Choosing::kMeasured);
  }

 private:
  const Evaluator& prepare(Run& run, const InferenceFields& fields, const DataFlow& flow) override {
    const auto& [name, position] = fields.data;
    const std::vector<ModelHandle> models = run.model_handles();
    const auto towers = static_cast<int64_t>(models.size());
    for (int64_t k = 0; k < towers; ++k) {
      const EvaluationShard shard{run.rank() * towers + k, run.ranks() * towers};
      evaluators_.push_back(std::make_unique<Evaluator>(name, models[static_cast<size_t>(k)], flow,
                                                        run.seed(), position, shard));
    }
    return *evaluators_[0];
  }

  Evaluator::Evaluation evaluate(Run& run) override {
    run.share_variables();
    const std::string own = own_part(run);
    const std::vector<std::string> all = run.of_all_ranks(own);
    for (const std::string& rank : all) {
      if (rank.empty()) throw Stopped{};
    }
    int64_t batches = 0;
    std::vector<Tally> total = evaluators_[0]->zeros();
    for (const std::string& rank : all) add(batches, total, rank);
    return evaluators_[0]->evaluation_of(batches, total);
  }

  std::string bad_input() const override {
    for (const auto& evaluator : evaluators_) {
      if (!evaluator->bad_input().empty()) return evaluator->bad_input();
    }
    return "";
  }

  /// The message of this rank; empty if it was interrupted, which the others must know.
  std::string own_part(Run& run) {
    try {
      run.part<TrainedModel>().on_towers([&](size_t k) { evaluators_[k]->run_part(run.stop_token()); });
    } catch (const Stopped&) {
      return "";
    }
    int64_t batches = 0;
    std::vector<Tally> total = evaluators_[0]->zeros();
    for (const auto& evaluator : evaluators_) {
      batches += evaluator->batches();
      for (size_t i = 0; i < total.size(); ++i) total[i].add(evaluator->tallies()[i]);
    }
    return message_of(batches, total);
  }

  std::vector<std::unique_ptr<Evaluator>> evaluators_;  // by tower of this process
};

TPACK_REGISTER(Callback, DataParallelInferenceRunner, "DataParallelInferenceRunner");

}  // namespace
}  // namespace tpack
