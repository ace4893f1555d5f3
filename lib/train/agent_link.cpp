#include "train/agent_link.h"

#include <algorithm>
#include <mutex>

#include "backend/inference_tower.h"
#include "checkpoint/layout.h"
#include "predict/predictor.h"
#include "train/saved_state.h"

namespace tpack {

/// Runs the trained tower itself, between its steps.
class AgentLink::TowerPredictor final : public BatchPredictor {
 public:
  TowerPredictor(const ModelHandle& handle, const AgentModel& model, const std::string& input)
      : predictor_(handle, outputs_of(model), {input}) {
    for (size_t i = 0; i < model.outputs.size(); ++i) {
      const auto& [output, size] = model.outputs[i];
      const TensorSpec& spec = predictor_.forms()[i].spec;
      if (spec.dtype == DType::kFloat32 && spec.shape.elements() == size) continue;
      throw ConfigError(output.position, "output '" + output.name + "' is " + spec.str() +
                                             " for each state, but " + std::to_string(size) +
                                             " float32 values are needed");
    }
  }
  std::vector<Tensor> run(const Tensor& observations) override {
    return predictor_.run({observations}, asked_++);
  }
  void compile(const TensorSpec& observations) { predictor_.compile({observations}); }
  /// Number of predictions so far, which determines the random numbers of the model.
  int64_t asked() const { return asked_; }
  void set_asked(int64_t asked) { asked_ = asked; }

 private:
  static std::vector<PredictOutput> outputs_of(const AgentModel& model) {
    std::vector<PredictOutput> all;
    for (const AgentModel::Output& one : model.outputs) all.push_back({one.output.name, one.output});
    return all;
  }

  Predictor predictor_;
  int64_t asked_ = 0;
};

/// Has a separate device and copies of the trained variables. Threads: any.
class AgentLink::CopyPredictor final : public BatchPredictor {
 public:
  CopyPredictor(const TowerFunction& tower, std::unique_ptr<Device> device, const AgentModel& model,
                const std::string& input)
      : tower_(tower, std::move(device)), predictor_(tower_.handle(), model, input) {}

  std::vector<Tensor> run(const Tensor& observations) override {
    const std::lock_guard lock(mutex_);
    return predictor_.run(observations);
  }
  void compile(const TensorSpec& observations) { predictor_.compile(observations); }
  void take(const VariableStore& variables) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : tower_.variables().names(VariableScope::kModel))
      tower_.variables().set(name, variables.value(name));
  }

 private:
  std::mutex mutex_;
  InferenceTower tower_;
  TowerPredictor predictor_;
};

std::unique_ptr<AgentLink> AgentLink::of(const DataFlow& data, const TrainSetup& setup) {
  const AgentSource* source = nullptr;
  try {
    source = agent_source_of(*data.flow());
  } catch (const ConfigError& error) {
    throw ConfigError(data.origin(), error.what());
  }
  if (source == nullptr) return nullptr;
  if (setup.input->batches_in_memory(data.settings()) > 1)
    throw ConfigError(data.origin(),
                      "data.train plays with the current model in each step, so its batches cannot be "
                      "prepared in advance; write input: Feed");
  return std::unique_ptr<AgentLink>(new AgentLink(*source, data.origin(), setup.seed));
}

AgentLink::AgentLink(const AgentSource& source, Position where, uint64_t seed)
    : source_(source), where_(std::move(where)), model_(source.model()), agent_(source.start(seed)) {}
/// The agent may still ask the predictor.
AgentLink::~AgentLink() { source_.stop(); }

std::vector<std::string> AgentLink::fetches() const {
  return model_.feedback.empty() ? std::vector<std::string>() : std::vector{model_.feedback.name};
}

std::string AgentLink::input_for_observations(const TowerFunction& tower) const {
  const std::string component = source_.spec()[0].name;
  for (const TowerInput& input : tower.inputs())
    if (input.component == component) return input.name;
  throw ConfigError(where_,
                    "data.train plays with the model, but no input of the model is bound to its component '" +
                        component + "'");
}

void AgentLink::connect(const ModelHandle& handle, const TrainSetup& setup) {
  const std::string input = input_for_observations(*handle.tower);
  if (model_.is_asynchronous) {
    auto device = open_device(handle.device->name(), setup.engine, 1);
    copy_ = std::make_unique<CopyPredictor>(*handle.tower, std::move(device), model_, input);
    agent_.begin(*copy_);
  } else {
    predictor_ = std::make_unique<TowerPredictor>(handle, model_, input);
    agent_.begin(*predictor_);
  }
}

void AgentLink::compile() {
  const TensorSpec one = source_.spec()[0].tensor;
  const TensorSpec observations = {one.dtype, one.shape.prepend(model_.batch)};
  if (predictor_) predictor_->compile(observations);
  if (copy_) copy_->compile(observations);
}

void AgentLink::take_variables(const VariableStore& variables) {
  if (copy_) copy_->take(variables);
}

void AgentLink::after_step(const Replicas& replicas) {
  take_variables(replicas.variables());
  if (model_.feedback.empty()) return;
  if (!replicas.ran_in_last_step(0)) return agent_.learn_nothing();  // the first update fetches
  agent_.learn(replicas.fetched(model_.feedback.name).host());
}

const std::vector<StepStatistic>& AgentLink::statistics() {
  static const std::vector<StepStatistic> kStatistics = {
      {.name = "mean_reward", .is_mean = true, .goal = Goal::kMax},
      {.name = "episode_length", .is_mean = true},
      {.name = "episodes", .is_mean = true}};
  return kStatistics;
}

std::optional<double> AgentLink::statistic(size_t index) const {
  const EpisodeRecord& record = agent_.episodes();
  if (index == 0) return record.mean_reward();
  if (index == 1) return record.mean_length();
  return static_cast<double>(record.episodes());
}

Agent::HyperParameter* AgentLink::hyper_parameter(const std::string& name) const {
  auto& all = agent_.hyper_parameters();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

void AgentLink::save(CheckpointContent& content) const {
  State state = agent_.save();
  if (predictor_) state.put("asked", predictor_->asked());
  save_state(state, layout::kAgent, layout::kAgentArrays, content);
}

void AgentLink::load(const CheckpointContent& content, const std::string& source) {
  const auto state = load_state(content, source, layout::kAgent, layout::kAgentArrays);
  if (!state)
    throw CheckpointError(
        source, "has no state of the agents that play with the model: it is from training on other data");
  agent_.load(*state);
  if (predictor_) predictor_->set_asked(state->get<int64_t>("asked"));
}

}  // namespace tpack
