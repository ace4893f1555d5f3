#include "train/run.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "train/rank_vote.h"

namespace tpack {

Run::Run(Trainer& trainer, Monitors& monitors, RunLength length, std::string folder,
         const std::map<std::string, DataFlow>& flows, uint64_t seed, bool is_chief)
    : trainer_(trainer),
      monitors_(monitors),
      length_(length),
      folder_(std::move(folder)),
      flows_(flows),
      seed_(seed),
      is_chief_(is_chief),
      epoch_(length.starting_epoch - 1) {}

std::map<std::string, Tensor> Run::variables(VariableScope scope) {
  std::map<std::string, Tensor> all;
  VariableStore* store = trainer_.part<TrainedVariables>().variables();
  if (store == nullptr) return all;
  for (const std::string& name : store->names(scope)) all.emplace(name, store->value(name));
  return all;
}

std::optional<double> Run::statistic(size_t index) const {
  if (before_) {
    const auto found = before_->statistics.find(index);
    return found == before_->statistics.end() ? std::nullopt : std::optional(found->second);
  }
  const bool was_skipped = !trainer_.part<GradientUpdates>().skipped_updates().empty() &&
                           !trainer_.part<StepStatistics>().statistic_is_of_last_step(index);
  return has_statistics_ && !was_skipped ? trainer_.part<StepStatistics>().statistic(index) : std::nullopt;
}

bool Run::statistic_is_of_last_step(size_t index) const {
  if (before_) return before_->of_last_step.contains(index);
  return has_statistics_ && trainer_.part<StepStatistics>().statistic_is_of_last_step(index);
}

void Run::statistics_of_step() {
  has_statistics_ = true;
  before_.reset();
}

State Run::last_step() const {
  State state;
  const std::vector<StepStatistic> all = trainer_.part<StepStatistics>().statistics();
  for (size_t i = 0; i < all.size(); ++i) {
    if (const auto value = statistic(i)) state.put("statistic/" + all[i].name, *value);
    state.put("is_of_last_step/" + all[i].name, statistic_is_of_last_step(i));
  }
  const std::vector<std::string> skipped = skipped_updates();
  state.put("skipped", skipped.size());
  for (size_t i = 0; i < skipped.size(); ++i) state.put("skipped/" + std::to_string(i), skipped[i]);
  return state;
}

void Run::take_last_step(const State& state) {
  before_.emplace();
  const std::vector<StepStatistic> all = trainer_.part<StepStatistics>().statistics();
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string value = "statistic/" + all[i].name;
    if (state.has(value)) before_->statistics[i] = state.get<double>(value);
    if (state.get<int64_t>("is_of_last_step/" + all[i].name, 0) != 0) before_->of_last_step.insert(i);
  }
  for (int64_t i = 0; i < state.get<int64_t>("skipped", 0); ++i)
    before_->skipped.push_back(state.get<std::string>("skipped/" + std::to_string(i)));
}

const DataFlow& Run::flow(const Ref<FlowName>& name) const {
  const auto found = flows_.find(name.name);
  if (found != flows_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [flow_name, flow] : flows_) known.push_back(flow_name);
  throw unknown_reference("flow", name.name, name.position, known);
}

void Run::require_hyper_parameter(const std::string& name, const Position& where) const {
  if (hyper_parameters_.empty()) hyper_parameters_ = trainer_.part<TrainedVariables>().hyper_parameters();
  if (hyper_parameters_.empty())
    throw ConfigError(
        where, "unknown hyper-parameter '" + name + "'; this trainer has none, because it has no optimizer");
  if (std::find(hyper_parameters_.begin(), hyper_parameters_.end(), name) == hyper_parameters_.end())
    throw unknown_reference("hyper-parameter", name, where, hyper_parameters_);
}

double Run::hyper_parameter(const std::string& name) const {
  require_hyper_parameter(name);
  return trainer_.part<TrainedVariables>().hyper_parameter(name);
}

void Run::set_hyper_parameter(const std::string& name, double value) {
  require_hyper_parameter(name);
  trainer_.part<TrainedVariables>().set_hyper_parameter(name, value);
}

void Run::together(const std::function<void()>& act) const {
  const ScopedActivity nothing(*world_, "");
  agree(*world_, RankVote::kContinue);
  act();
}

void Run::share_variables() {
  if (ranks() == 1) return trainer_.part<TrainedVariables>().share_variables();
  together([this] { trainer_.part<TrainedVariables>().share_variables(); });
}

double Run::of_chief(double value) const {
  if (ranks() == 1) return value;
  together(
      [&] { world_->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0, "value of a callback"); });
  return value;
}

std::vector<std::string> Run::of_all_ranks(const std::string& own) const {
  if (ranks() == 1) return {own};
  std::vector<std::string> all;
  together([&] { all = world_->all_gather(own, "results of a callback"); });
  return all;
}

void Run::request_checkpoint(CheckpointRequest request) {
  if (change_ && !request.change) {
    TPACK_ASSERT(request.purpose != CheckpointRequest::Purpose::kResume,
                 "a checkpoint for resume stores the current state of the run");
    request.change = change_;
  }
  requests_.push_back(std::move(request));
}

void Run::with_change(const std::function<void(CheckpointContent&)>& change,
                      const std::function<void()>& act) {
  change_ = change;
  try {
    act();
  } catch (...) {
    change_ = nullptr;
    throw;
  }
  change_ = nullptr;
}

void Run::while_busy(const std::string& what, const std::function<void()>& act) const {
  if (world_ == nullptr) return act();
  const ScopedActivity busy(*world_, what);
  act();
}

std::vector<ModelHandle> Run::model_handles() {
  model_handle();
  return trainer_.part<TrainedModel>().model_handles();
}

ModelHandle Run::model_handle() {
  const auto model = trainer_.part<TrainedModel>().model_handle();
  if (!model) throw ConfigError("this trainer has no model to run on other data");
  return *model;
}

}  // namespace tpack
