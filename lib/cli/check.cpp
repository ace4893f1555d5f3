#include "cli/check.h"

#include <filesystem>

#include "cli/gates.h"
#include "comm/self_comm.h"
#include "predict/predict_outputs.h"

namespace tpack {
namespace {

Position position_of(const Experiment& experiment, const char* section) {
  const ConfigNode* node = experiment.source.root.find(section);
  return node == nullptr ? experiment.source.root.position() : node->position();
}

}  // namespace

void check_init(const InitSection& init) {
  const std::string path = resolved_path(init.from);
  if (init.from.empty() || std::filesystem::is_regular_file(path)) return;
  throw ConfigError(init.from.position, "'from' of init: no such file '" + path + "'");
}

int64_t resolved_steps_per_epoch(const Experiment& experiment) {
  const StepsPerEpoch& asked = experiment.config.steps_per_epoch;
  if (!asked.is_data()) return *asked.steps;
  const Position where = position_of(experiment, "steps_per_epoch");
  const auto train = experiment.flows.find("train");
  const bool endless = train != experiment.flows.end() && train->second.size() == kEndless;
  const auto steps = experiment.trainer->steps_per_pass();
  if (endless || !steps) {
    throw ConfigError(where, std::string("'steps_per_epoch' is data, but data.train ") +
                                 (endless ? "never ends" : "does not say how long a pass is") +
                                 "; write a number of steps");
  }
  if (*steps < 1) {
    throw ConfigError(where,
                      "'steps_per_epoch' is data, but a pass over data.train has less than one batch for "
                      "each replica; make batches smaller or write a number of steps");
  }
  return *steps;
}

namespace {

/// What is wrong in `predict` should not show after training.
void check_predict(const Experiment& experiment) {
  const ConfigNode& outputs = experiment.config.predict.outputs;
  if (outputs.is_null() || !experiment.tower) return;
  Diagnostics errors;
  const std::vector<PredictOutput> parsed = parse_predict_outputs(outputs, errors);
  errors.throw_if_any();
  std::vector<TensorSpec> one_sample;
  for (const TowerInput& input : experiment.tower->inputs()) one_sample.push_back(input.batch_spec(1));
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  fetch_outputs(b, table, build_tower(b, *experiment.tower, one_sample, {}).outputs, parsed);
}

}  // namespace

void set_up_trainer(Experiment& experiment, Plan& plan, Comm& world) {
  try {
    experiment.trainer->setup(experiment.train_setup(plan, world));
    check_predict(experiment);
  } catch (const ConfigError& error) {
    Diagnostics errors;
    errors.add(error, position_of(experiment, "trainer"));
    errors.throw_if_any();
  }
}

CheckedExperiment::CheckedExperiment(const std::string& path, const std::vector<std::string>& overrides,
                                     bool with_data)
    : experiment_(load_experiment(path, overrides)), world_(make_self_comm()) {
  Experiment& e = experiment_;
  e.require_for_training();
  check_init(e.config.init);
  if (with_data) {
    for (const auto& [name, flow] : e.flows) flow.prepare();
  }
  e.config.engine.algorithm = DeviceOptions::Algorithm::kHeuristic;
  set_up_trainer(e, plan_, *world_);
  if (with_data || !e.config.steps_per_epoch.is_data()) steps_per_epoch_ = resolved_steps_per_epoch(e);
  monitors_ = std::make_unique<Monitors>(std::vector<std::unique_ptr<Monitor>>());
  const RunLength length{e.config.starting_epoch, e.config.max_epoch, steps_per_epoch_};
  run_ = std::make_unique<Run>(*e.trainer, *monitors_, length, "", e.flows,
                               static_cast<uint64_t>(e.config.seed), true);
  if (!with_data) return;  // callbacks may open data
  check_gates(e.config.gates, set_up_callbacks(e.callbacks, *e.trainer, *run_));
}

}  // namespace tpack
