#include "experiment/check.h"

#include <algorithm>
#include <filesystem>

#include "callbacks/averaged_weights.h"
#include "checkpoint/checkpoint.h"
#include "comm/self_comm.h"
#include "dataflow/batched_flow.h"
#include "dataflow/guarded_flow.h"
#include "dataflow/map.h"
#include "dataflow/moments.h"
#include "dataflow/sample_error.h"
#include "experiment/declared_data.h"
#include "experiment/gates.h"
#include "experiment/ignored_labels.h"
#include "experiment/initial_weights.h"
#include "experiment/without_effect.h"
#include "graph/tower_description.h"
#include "predict/class_counts.h"
#include "predict/evaluation_flow.h"
#include "predict/predict_outputs.h"
#include "system/log.h"
#include "system/machine.h"
#include "train/set_up_callbacks.h"

namespace tpack {

namespace {

/// Why the number of batches in a pass is unknown; null if it may be known.
const char* why_no_length(const DataFlow* train) {
  if (train == nullptr) return nullptr;
  if (train->size() == kEndless) return "never ends";
  if (!train->size() && train->settings().on_error == OnError::kSkip)
    return "skips bad samples (on_error: skip, not replace), so the length of a pass is not known in advance";
  return nullptr;
}

/// True if the user can say how many samples its source gives.
bool asks_for_size(const DataFlow& train) {
  const std::vector<const Source*> sources = train.flow()->sources();
  return !train.size() && sources.size() == 1 && sources[0]->part<SourceFiles>().come_from_outside();
}

int64_t steps_of(int64_t samples, const Batching& batching, const StepSize& step) {
  const bool has_rest = batching.keeps_remainder && samples % batching.batch_size != 0;
  return (samples / batching.batch_size + (has_rest ? 1 : 0)) / step.batches();
}

/// Steps of a pass that skips only the bad samples known to its source. If more turn out to be bad, an epoch
/// ends slightly later than a pass.
std::optional<int64_t> steps_without_bad(const DataFlow& train, const StepSize& step) {
  const auto batching = train.batching();
  if (!batching || train.size() || train.flow()->sources().size() != 1) return std::nullopt;
  const Flow* at = train.flow().get();
  const GuardedFlow* guarded = nullptr;
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at)) {
    if (const auto* found = dynamic_cast<const GuardedFlow*>(at)) guarded = found;
    at = &wrapped->up();
  }
  const auto samples = guarded == nullptr ? std::nullopt : guarded->up().size();
  if (!samples || samples == kEndless) return std::nullopt;
  return steps_of(*samples - train.facts()[0].bad, *batching, step);
}

/// Whether a flow is endless before its maps that drop samples.
bool never_ends(const Flow* flow) {
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(flow)) {
    if (flow->size() == kEndless) return true;
    flow = &wrapped->up();
  }
  return flow->size() == kEndless;
}

/// Number of samples after the maps of a flow, found by reading the first pass. With random maps, other
/// passes may differ: then an epoch ends before or after a pass. Nothing if no map drops samples, or if a
/// later stage changes their number.
std::optional<int64_t> samples_after_dropping(const DataFlow& train) {
  const Flow* at = train.flow().get();
  bool skips_bad = false;
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at)) {
    const auto* map = dynamic_cast<const MapFlow*>(at);
    if (map != nullptr && map->may_drop()) break;
    const bool is_guard = dynamic_cast<const GuardedFlow*>(at) != nullptr;
    skips_bad = skips_bad || is_guard;
    const auto* batched = dynamic_cast<const BatchedFlow*>(at);
    const bool counts = batched != nullptr && !batched->has_groups();
    if (map == nullptr && !is_guard && !counts) return std::nullopt;
    at = &wrapped->up();
  }
  if (dynamic_cast<const MapFlow*>(at) == nullptr || never_ends(at)) return std::nullopt;
  train.prepare();
  log::info("reading data.train once to count the samples of a pass");
  const auto cursor = at->open({});
  Datapoint sample;
  for (int64_t count = 0;;) {
    try {
      if (!cursor->next(sample)) return count;
      ++count;
    } catch (const SampleError& error) {
      if (!skips_bad || error.kind() != ErrorKind::kData) throw;
    }
  }
}

}  // namespace

int64_t resolved_steps_per_epoch(const Experiment& experiment) {
  const StepsPerEpoch& asked = experiment.config.steps_per_epoch;
  if (!asked.is_data()) return *asked.steps;
  const DataFlow* train = experiment.train_flow();
  const bool written = experiment.source.root.find("steps_per_epoch") != nullptr;
  const Position where =
      written || train == nullptr ? experiment.position_of("steps_per_epoch") : train->origin();
  auto steps = experiment.trainer->part<StepData>().steps_per_pass();
  if (!steps && train != nullptr)
    steps = steps_without_bad(*train, experiment.trainer->part<StepData>().step_size());
  if (!steps && train != nullptr && train->batching()) {
    if (const auto samples = samples_after_dropping(*train))
      steps = steps_of(*samples, *train->batching(), experiment.trainer->part<StepData>().step_size());
  }
  if (const char* why = steps ? nullptr : why_no_length(train); !steps) {
    throw ConfigError(where, std::string("'steps_per_epoch' is data, but data.train ") +
                                 (why != nullptr ? why : "does not declare the length of a pass") +
                                 "; write a number of steps" +
                                 (asks_for_size(*train) ? ", or set 'size' of the source" : ""));
  }
  if (*steps < 1) {
    throw ConfigError(where,
                      "'steps_per_epoch' is data, but a pass over data.train has less than one batch for "
                      "each replica; use smaller batches or write a number of steps");
  }
  return *steps;
}

namespace {

/// Mistakes in `predict` must be found before training.
void check_predict(const Experiment& experiment, const TowerFunction& tower) {
  const ConfigNode& outputs = experiment.config.predict.outputs;
  if (outputs.is_null()) return;
  Diagnostics errors;
  const std::vector<PredictOutput> parsed = parse_predict_outputs(outputs, errors);
  errors.throw_if_any();
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  fetch_outputs(b, table, build_tower(b, tower, batch_specs(tower, 1), {}).outputs, parsed);
}

/// Checks that need the inference graph and the data.
void check_tower(const Experiment& experiment) {
  const auto model = experiment.trainer->part<TrainedModel>().model_handle();
  if (!model) return;
  const TowerFunction& tower = *model->tower;
  const TowerDescription& described = tower.description();
  check_predict(experiment, tower);
  const DataFlow* const train = experiment.train_flow();
  if (train == nullptr) return;
  check_classes_of_train(described.graph(), tower, *train);
  check_binary_classes(described.targets(), tower, *train);
  check_ignored_labels(experiment.config.model, tower, *train);
}

}  // namespace

void set_up_trainer(Experiment& experiment, Plan& plan, Comm& world, const InputSource* input) {
  try {
    TrainSetup setup = experiment.train_setup(plan, world);
    if (input != nullptr) setup.input = input;
    experiment.trainer->setup(setup);
    check_tower(experiment);
  } catch (const ConfigError& error) {
    Diagnostics errors;
    errors.add(error, experiment.position_of("trainer"));
    errors.throw_if_any();
  } catch (const ResourceError& error) {
    throw ResourceError(Problem{experiment.position_of("trainer"), error.what()}.str());
  }
}

void open_data_and_set_up(const Experiment& experiment, const std::function<void()>& open_data,
                          const std::function<void()>& set_up) {
  Diagnostics errors;
  const auto declares = [](const auto& named) { return named.second.knows_spec(); };
  const auto add_those_of_the_model = [&] {
    if (!std::all_of(experiment.flows.begin(), experiment.flows.end(), declares)) return false;
    try {
      set_up();
    } catch (const ConfigError& error) {
      errors.add(error, {});
      return true;
    } catch (const Error&) {
      // The data come first.
    }
    return false;
  };
  try {
    open_data();
  } catch (const ConfigError& error) {
    errors.add(error, {});
    add_those_of_the_model();
  } catch (const DataError& error) {
    if (!add_those_of_the_model()) throw;
    errors.add(Position(), error.what());
  }
  errors.throw_if_any();
  set_up();
}

void warn_of_unsaved_weights(const Experiment& experiment) {
  const auto& callbacks = experiment.callbacks;
  const bool is_saved = std::any_of(callbacks.begin(), callbacks.end(), [](const NamedCallback& named) {
    // A run cannot be resumed from averaged weights.
    const bool has_averages = dynamic_cast<const AveragedWeights*>(named.callback.get()) != nullptr;
    return !has_averages && !checkpoints_of(*named.callback).empty();
  });
  if (is_saved || !experiment.trainer->part<TrainedModel>().model_handle()) return;
  log::warning(experiment.position_of("callbacks").str() +
               ": no callback saves checkpoints; add ModelSaver: {} to the callbacks");
}

void remark_of_no_validation(const Experiment& experiment, const StatisticGoals& statistics) {
  const DataFlow* const train = experiment.train_flow();
  const auto model = experiment.trainer->part<TrainedModel>().model_handle();
  if (!model || train == nullptr || experiment.updates.empty() || !may_look_at(*train)) return;
  for (const auto& [name, goal] : statistics)
    for (const std::string& flow : experiment.flow_names())
      if (name.starts_with(flow + "_")) return;
  if (model->tower->description().targets().empty()) return;
  const std::string data = experiment.flows.contains("validation")
                               ? ""
                               : "for a fifth of the samples, write split: 0.2 and data.validation; ";
  log::info("there is no validation, so the quality on new samples is unknown; " + data +
            "add InferenceRunner: {data: validation} to the callbacks");
}

CheckedExperiment::CheckedExperiment(const std::string& path, const std::vector<std::string>& overrides,
                                     bool with_data)
    : experiment_(load_experiment(path, overrides)), world_(make_self_comm()) {
  Experiment& e = experiment_;
  e.require_for_training();
  if (!with_data) {  // weights may be missing, as the data may be
    std::erase_if(e.config.init.sources, [](const InitSource& source) {
      return !std::filesystem::exists(resolved_path(source.from));
    });
  }
  check_init(e.config.init);
  e.config.engine.timings = Timings::kKnown;
  if (!with_data) declare_train_data();
  const auto open_data = [&] {
    const uint64_t before = resident_memory();
    if (with_data) prepare(e.flows);
    if (with_data) check_same_classes(e.flows);
    const uint64_t after = resident_memory();
    data_bytes_ = after - std::min(before, after);
  };
  open_data_and_set_up(e, open_data, [&] { set_up_trainer(e, plan_, *world_); });
  warn_of_unsaved_weights(e);
  warn_of_counted_labels(e.config.model);
  warn_of_what_has_no_effect(e);
  if (with_data || !e.config.steps_per_epoch.is_data()) steps_per_epoch_ = resolved_steps_per_epoch(e);
  monitors_ = std::make_unique<Monitors>(std::vector<std::unique_ptr<Monitor>>());
  const RunLength length{e.config.starting_epoch, e.config.max_epoch, steps_per_epoch_};
  run_ = std::make_unique<Run>(*e.trainer, *monitors_, length, "", e.flows,
                               static_cast<uint64_t>(e.config.seed), true);
  if (!with_data) return;  // callbacks may open data
  callbacks_are_set_up_ = true;
  statistics_ = set_up_callbacks(e.callbacks, *e.trainer, *run_);
  check_monitor_needs(e.monitor_needs, statistics_, e.flow_names());
  check_gates(e.config.gates, statistics_, e.flow_names());
  remark_of_no_validation(e, statistics_);
}

void CheckedExperiment::declare_train_data() {
  Experiment& e = experiment_;
  const DataFlow* train = e.train_flow();
  if (train == nullptr || train->knows_spec()) return;
  knows_train_data_ = false;
  auto declared = declared_train_flow(e);
  if (!declared && e.trainer->needs().data) {
    throw ConfigError(train->origin(),
                      "the contents of data.train are known only after it is opened, and the model does not "
                      "declare them; check without --no-data");
  }
  e.flows.erase("train");
  if (declared) e.flows.emplace("train", std::move(*declared));
}

void CheckedExperiment::compile() {
  experiment_.trainer->compile();
  if (callbacks_are_set_up_) {
    for (const NamedCallback& named : experiment_.callbacks) named.callback->compile(*run_);
  }
  const uint64_t held = resident_memory();
  program_bytes_ = held - std::min(data_bytes_, held);
  const std::string loaded = load_initial_weights(experiment_, true);
  if (!loaded.empty()) log::info(loaded);
  if (callbacks_are_set_up_) take_values_from_data(experiment_, loaded.empty());
}

}  // namespace tpack
