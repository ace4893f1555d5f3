#include "cli/check.h"

#include <algorithm>
#include <filesystem>

#include "cli/gates.h"
#include "comm/self_comm.h"
#include "core/machine.h"
#include "graph/structural.h"
#include "ops/softmax_cross_entropy.h"
#include "predict/predict_outputs.h"

namespace tpack {

void check_init(const InitSection& init) {
  const std::string path = resolved_path(init.from);
  if (init.from.empty() || std::filesystem::is_regular_file(path)) return;
  throw ConfigError(init.from.position, "'from' of init: no such file '" + path + "'");
}

namespace {

/// Why nobody knows how many batches a pass has; null where that may be known.
const char* why_no_length(const DataFlow* train) {
  if (train == nullptr) return nullptr;
  if (train->size() == kEndless) return "never ends";
  if (!train->size() && train->settings().on_error == OnError::kSkip)
    return "skips bad samples (on_error: skip), so that only reading tells how long a pass is";
  return nullptr;
}

}  // namespace

int64_t resolved_steps_per_epoch(const Experiment& experiment) {
  const StepsPerEpoch& asked = experiment.config.steps_per_epoch;
  if (!asked.is_data()) return *asked.steps;
  const DataFlow* train = experiment.train_flow();
  const bool written = experiment.source.root.find("steps_per_epoch") != nullptr;
  const Position where =
      written || train == nullptr ? experiment.position_of("steps_per_epoch") : train->origin();
  const auto steps = experiment.trainer->steps_per_pass();
  if (const char* why = why_no_length(train); why != nullptr || !steps) {
    throw ConfigError(where, std::string("'steps_per_epoch' is data, but data.train ") +
                                 (why != nullptr ? why : "does not say how long a pass is") +
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
void check_predict(const Experiment& experiment, Builder& b, const TowerResult& built) {
  const ConfigNode& outputs = experiment.config.predict.outputs;
  if (outputs.is_null()) return;
  Diagnostics errors;
  const std::vector<PredictOutput> parsed = parse_predict_outputs(outputs, errors);
  errors.throw_if_any();
  fetch_outputs(b, b.variables(), built.outputs, parsed);
}

/// Names of the classes that the data of an input have; empty where it is fed no labels.
std::vector<std::string> classes_of(const Experiment& experiment, Symbol fed) {
  const DataFlow* train = experiment.train_flow();
  const auto* input = op_cast<Input>(*fed.node);
  if (input == nullptr || train == nullptr) return {};
  for (const TowerInput& known : experiment.tower->inputs()) {
    if (known.name != input->params().name) continue;
    const auto component = train->spec().find(known.component);
    if (component) return train->spec()[*component].classes;
  }
  return {};
}

/// Labels for which there are no scores make the cost NaN, a whole epoch later.
void check_labels(const Experiment& experiment, const Graph& graph) {
  Diagnostics errors;
  for (const auto& node : graph.nodes()) {
    if (op_cast<SoftmaxCrossEntropy>(*node) == nullptr) continue;
    const int64_t scores = node->inputs[0].shape()[1];
    const auto classes = static_cast<int64_t>(classes_of(experiment, node->inputs[1]).size());
    if (classes <= scores) continue;
    errors.add(node->origin, node->path + ": data.train has " + std::to_string(classes) +
                                 " classes, but there are " + std::to_string(scores) +
                                 " scores; give the layer of the logits " + std::to_string(classes) +
                                 " units");
  }
  errors.throw_if_any();
}

/// What only the inference graph and the data together tell.
void check_tower(const Experiment& experiment) {
  if (!experiment.tower) return;
  const TowerFunction& tower = *experiment.tower;
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  check_predict(experiment, b, build_tower(b, tower, batch_specs(tower, 1), {}));
  check_labels(experiment, graph);
}

}  // namespace

void set_up_trainer(Experiment& experiment, Plan& plan, Comm& world) {
  try {
    experiment.trainer->setup(experiment.train_setup(plan, world));
    check_tower(experiment);
  } catch (const ConfigError& error) {
    Diagnostics errors;
    errors.add(error, experiment.position_of("trainer"));
    errors.throw_if_any();
  } catch (const ResourceError& error) {
    throw ResourceError(Problem{experiment.position_of("trainer"), error.what()}.str());
  }
}

CheckedExperiment::CheckedExperiment(const std::string& path, const std::vector<std::string>& overrides,
                                     bool with_data)
    : experiment_(load_experiment(path, overrides)), world_(make_self_comm()) {
  Experiment& e = experiment_;
  e.require_for_training();
  check_init(e.config.init);
  const uint64_t before = resident_memory();
  if (with_data) prepare(e.flows);
  data_bytes_ = resident_memory() - std::min(before, resident_memory());
  e.config.engine.algorithm = DeviceOptions::Algorithm::kHeuristic;
  set_up_trainer(e, plan_, *world_);
  if (with_data || !e.config.steps_per_epoch.is_data()) steps_per_epoch_ = resolved_steps_per_epoch(e);
  monitors_ = std::make_unique<Monitors>(std::vector<std::unique_ptr<Monitor>>());
  const RunLength length{e.config.starting_epoch, e.config.max_epoch, steps_per_epoch_};
  run_ = std::make_unique<Run>(*e.trainer, *monitors_, length, "", e.flows,
                               static_cast<uint64_t>(e.config.seed), true);
  if (!with_data) return;  // callbacks may open data
  callbacks_are_set_up_ = true;
  check_gates(e.config.gates, set_up_callbacks(e.callbacks, *e.trainer, *run_));
}

void CheckedExperiment::compile() {
  experiment_.trainer->compile();
  if (callbacks_are_set_up_) {
    for (const NamedCallback& named : experiment_.callbacks) named.callback->compile(*run_);
  }
  program_bytes_ = resident_memory() - std::min(data_bytes_, resident_memory());
}

}  // namespace tpack
