#include "predict/evaluator.h"

#include "predict/bad_input.h"
#include "predict/class_counts.h"
#include "predict/evaluation_flow.h"
#include "tensor/finite.h"

namespace tpack {

Evaluator::Evaluator(std::string name, const ModelHandle& place, const DataFlow& flow, uint64_t seed,
                     const Position& where, EvaluationShard shard)
    : name_(std::move(name)),
      place_(place),
      flow_(flow),
      seed_(seed),
      program_("evaluate", *place.device, *place.plan, [this](const Signature& fed) { return graph(fed); }),
      shard_(shard) {
  check_evaluation_flow(flow_, name_, where);
  components_ = bind_inputs(place_.tower->inputs(), flow_.spec(), "flow '" + name_ + "'");
  nominal_ = batch_specs(*place_.tower, *flow_.batch_size());
  Graph graph;
  Builder b(graph, *place_.table, {Phase::kInference, place_.device->float_type()});
  for (const Statistic& statistic : build_tower(b, *place_.tower, nominal_, {}).statistics) {
    statistics_.push_back(statistic.name);
    goals_.push_back(statistic.known_goal());
    tallies_.emplace_back(statistic);
  }
  check_classes(graph, *place_.tower, flow_, name_, where);
}

StatisticGoals Evaluator::goals() const {
  StatisticGoals goals;
  for (size_t i = 0; i < statistics_.size(); ++i) goals.emplace(statistics_[i], goals_[i]);
  return goals;
}

Graph Evaluator::graph(const Signature& fed) const {
  Graph graph;
  Builder b(graph, *place_.table, {Phase::kInference, place_.device->float_type()});
  build_tower(b, *place_.tower, fed, {});
  return graph;
}

void Evaluator::compile(Choosing choosing) {
  const Batching batching = *flow_.batching();
  const int64_t left = batching.remainder();
  if (batching.has_whole_batch()) program_.compile(nominal_, choosing);
  if (left == 0) return;
  program_.compile(batch_specs(*place_.tower, left),
                   batching.has_whole_batch() ? Choosing::kByRules : choosing);
}

std::unique_ptr<InputReader> Evaluator::open() const {
  InputSetup setup;
  setup.flow = &flow_;
  setup.components = components_;
  setup.nominal = nominal_;
  setup.seed = seed_;
  setup.passes = 1;
  setup.replica = shard_.index;
  setup.replicas = shard_.count;
  return Registry<InputSource>::make("Queue", {{"capacity", kBatchesInMemory}})->open(setup);
}

std::vector<Tally> Evaluator::zeros() const {
  std::vector<Tally> zeros = tallies_;
  for (Tally& tally : zeros) tally.clear();
  return zeros;
}

void Evaluator::run_part(const std::stop_token& stop) {
  for (Tally& tally : tallies_) tally.clear();
  batches_ = 0;
  bad_input_.clear();
  const auto reader = open();
  // Random draws belong to a batch, whichever evaluator has it.
  RunInfo info{seed_, shard_.index, 0};
  for (; reader->next(stop); info.step += shard_.count, ++batches_) {
    const Executable& done = program_.run(reader->tensors(), info);
    bool finite = true;
    for (size_t i = 0; i < tallies_.size(); ++i) {
      tallies_[i].add(done.fetched(2 * i), done.fetched(2 * i + 1));
      finite = finite && all_finite(done.fetched(2 * i));
    }
    if (!finite && bad_input_.empty()) look_for_bad_input(reader->tensors(), info.step);
  }
}

void Evaluator::look_for_bad_input(std::span<const Tensor> batch, int64_t number) {
  const auto bad =
      BadInputFinder(*place_.tower, name_).find(batch, " of batch " + std::to_string(number + 1));
  if (bad) bad_input_ = bad->what + "; " + bad->fix;
}

Evaluator::Result Evaluator::result_of(int64_t batches, const std::vector<Tally>& total) const {
  if (batches == 0) throw DataError("flow '" + name_ + "' gave no batch to evaluate");
  Result result;
  for (size_t i = 0; i < total.size(); ++i) result.emplace_back(statistics_[i], total[i].value());
  return result;
}

Evaluator::Result Evaluator::run(const std::stop_token& stop) {
  run_part(stop);
  return result_of(batches_, tallies_);
}

}  // namespace tpack
