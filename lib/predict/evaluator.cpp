#include "predict/evaluator.h"

#include <algorithm>
#include <set>

#include "graph/structural.h"
#include "predict/bad_input.h"
#include "predict/class_counts.h"
#include "predict/evaluation_flow.h"
#include "tensor/finite.h"

namespace tpack {

Evaluator::Evaluator(std::string name, const ModelHandle& model, const DataFlow& flow, uint64_t seed,
                     const Position& where, EvaluationShard shard, Detail detail)
    : name_(std::move(name)),
      model_(model),
      flow_(flow),
      seed_(seed),
      program_("evaluate", *model.device, *model.plan, [this](const Signature& fed) { return build(fed); }),
      shard_(shard),
      detail_(detail) {
  check_evaluation_flow(flow_, name_, where);
  components_ = bind_inputs(model_.tower->inputs(), flow_.spec(), "flow '" + name_ + "'");
  nominal_ = batch_specs(*model_.tower, *flow_.batch_size());
  description_ = &model_.tower->description({Phase::kInference, model_.device->float_type()}, nominal_);
  for (const Statistic& statistic : description_->statistics()) {
    statistics_.push_back(statistic.name);
    goals_.push_back(statistic.known_goal());
    forms_.push_back(statistic.form);
    tallies_.emplace_back(statistic);
  }
  check_classes(description_->graph(), *model_.tower, flow_, name_, where);
  targets_ = description_->targets();
  size_t fetch = 2 * statistics_.size();
  for (size_t i = 0; i < targets_.size(); ++i) {
    first_fetch_.push_back(fetch);
    if (is_fetched(targets_[i])) fetch += detail_ == Detail::kSamples ? 3 : 2;
    class_names_.push_back(
        ClassReport::names_of(targets_[i], tpack::class_names(targets_[i].targets, *model_.tower, flow_)));
    if (ClassReport::classes_of(targets_[i]) == 0 || has_report_of(targets_[i])) continue;
    reports_.push_back(i);
    tallies_.emplace_back(ClassReport::parts_of(targets_[i]));
  }
}

/// Several terms of a cost may compare the same scores with the same labels.
bool Evaluator::has_report_of(const PredictionTarget& target) const {
  return std::ranges::any_of(reports_, [&](size_t i) {
    const PredictionTarget& other = targets_[i];
    return other.predictions == target.predictions && other.targets == target.targets &&
           other.ignored == target.ignored;
  });
}

StatisticGoals Evaluator::goals() const {
  StatisticGoals goals;
  for (size_t i = 0; i < statistics_.size(); ++i) goals.emplace(statistics_[i], goals_[i]);
  return goals;
}

std::vector<std::string> Evaluator::class_figures() const {
  std::vector<std::string> all;
  for (const size_t target : reports_) {
    const ClassReport report(targets_[target], class_names_[target],
                             std::vector<double>(ClassReport::parts_of(targets_[target])));
    const std::vector<std::string> own = ClassReport::figures_of(report.classes());
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void Evaluator::set_threshold(double threshold) {
  if (std::ranges::none_of(targets_, &ClassReport::has_threshold))
    throw ConfigError("--threshold: no term of the cost has two classes or sets of labels");
  for (PredictionTarget& target : targets_)
    target.threshold = ClassReport::has_threshold(target) ? threshold : 0.5;
}

/// Values of each sample are copied from the device only if an observer needs them.
bool Evaluator::is_fetched(const PredictionTarget& target) const {
  return detail_ == Detail::kSamples || ClassReport::classes_of(target) > 0;
}

/// Fetches the statistics, then the pair of each target.
Graph Evaluator::build(const Signature& fed) const {
  Graph graph;
  Builder b(graph, *model_.table, {Phase::kInference, model_.device->float_type()});
  const TowerResult result = build_tower(b, *model_.tower, fed, {});
  for (const PredictionTarget& target : result.targets) {
    if (!is_fetched(target)) continue;
    b.fetch(target.term + "/predictions", target.predictions);
    b.fetch(target.term + "/targets", target.targets);
    if (detail_ == Detail::kSamples) b.fetch(target.term + "/losses", target.losses);
  }
  return graph;
}

void Evaluator::compile(Choosing choosing) {
  const Batching batching = *flow_.batching();
  const int64_t left = batching.remainder();
  if (batching.has_whole_batch()) program_.compile(nominal_, choosing);
  if (left == 0) return;
  program_.compile(batch_specs(*model_.tower, left),
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

void Evaluator::run_part(const std::stop_token& stop, const Observer& observer) {
  const auto reader = open();
  run_over([&] { return reader->next(stop) ? Batch(reader->tensors()) : std::nullopt; }, observer);
}

Evaluator::Result Evaluator::run_on(const std::vector<std::vector<Tensor>>& batches) {
  size_t at = 0;
  run_over([&] { return at < batches.size() ? Batch(batches[at++]) : std::nullopt; }, nullptr);
  return evaluation_of(batches_, tallies_).statistics;
}

std::vector<std::vector<Tensor>> Evaluator::read_batches(const std::stop_token& stop) const {
  std::vector<std::vector<Tensor>> batches;
  for (const auto reader = open(); reader->next(stop);) {
    std::vector<Tensor>& batch = batches.emplace_back();
    for (const Tensor& tensor : reader->tensors()) batch.push_back(tensor.clone());
  }
  return batches;
}

std::vector<std::string> Evaluator::predicting_inputs() const {
  std::vector<const Node*> open;
  for (const PredictionTarget& target : targets_) open.push_back(target.predictions.node);
  if (open.empty())
    for (const Fetch& fetch : description_->graph().fetches()) open.push_back(fetch.value.node);
  std::set<const Node*> seen;
  std::vector<std::string> names;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (const auto* input = op_cast<Input>(*node)) names.push_back(input->params().name);
    for (const Symbol& from : node->inputs) open.push_back(from.node);
  }
  return names;
}

void Evaluator::run_over(const NextBatch& next, const Observer& observer) {
  TPACK_ASSERT(!observer || detail_ == Detail::kSamples, "this evaluator does not fetch samples");
  for (Tally& tally : tallies_) tally.clear();
  batches_ = 0;
  bad_input_.clear();
  // Random draws depend on the batch, not on the evaluator.
  RunInfo info{seed_, shard_.index, 0};
  for (auto batch = next(); batch; batch = next(), info.step += shard_.count, ++batches_) {
    const Executable& done = program_.run(*batch, info);
    bool finite = true;
    for (size_t i = 0; i < statistics_.size(); ++i) {
      tallies_[i].add(done.fetched(2 * i), done.fetched(2 * i + 1));
      finite = finite && all_finite(done.fetched(2 * i));
    }
    for (size_t i = 0; i < reports_.size(); ++i) {
      const size_t at = first_fetch_[reports_[i]];
      ClassReport::count(targets_[reports_[i]], done.fetched(at), done.fetched(at + 1),
                         tallies_[statistics_.size() + i].counts());
    }
    if (observer) {
      std::vector<TargetBatch> batches;
      for (size_t i = 0; i < targets_.size(); ++i) {
        const size_t at = first_fetch_[i];
        batches.push_back({targets_[i], done.fetched(at), done.fetched(at + 1), done.fetched(at + 2)});
      }
      observer(info.step, batches);
    }
    if (!finite && bad_input_.empty()) look_for_bad_input(*batch, info.step);
  }
}

void Evaluator::look_for_bad_input(std::span<const Tensor> batch, int64_t number) {
  const auto bad =
      BadInputFinder(*model_.tower, name_).find(batch, " of batch " + std::to_string(number + 1));
  if (bad) bad_input_ = bad->what + "; " + bad->fix;
}

Evaluator::Evaluation Evaluator::evaluation_of(int64_t batches, const std::vector<Tally>& total) const {
  if (batches == 0) throw DataError("flow '" + name_ + "' has no batch to evaluate");
  Evaluation evaluation;
  for (size_t i = 0; i < statistics_.size(); ++i)
    evaluation.statistics.emplace_back(statistics_[i], total[i].value());
  for (size_t i = 0; i < reports_.size(); ++i) {
    const size_t target = reports_[i];
    evaluation.classes.emplace_back(targets_[target], class_names_[target],
                                    total[statistics_.size() + i].parts());
  }
  return evaluation;
}

Evaluator::Result Evaluator::run(const std::stop_token& stop) {
  run_part(stop);
  return evaluation_of(batches_, tallies_).statistics;
}

}  // namespace tpack
