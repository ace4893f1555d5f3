#include "experiment/experiment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/expression.h"
#include "core/text.h"
#include "model/model.h"
#include "predict/predict_outputs.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForGans =
    "any trainer can train several networks; write 'updates: {GAN: {optimizer: ...}}' instead of 'optimizer'";
constexpr const char* kForManyMachines =
    "Horovod trains on several machines; start it with mpirun, or on one machine with `tpack train --procs`";

/// Trainers of tensorpack with another name in tpack, and their replacements.
constexpr std::array<std::pair<const char*, const char*>, 6> kTrainersOfTensorpack = {
    {{"GANTrainer", kForGans},
     {"SeparateGANTrainer", kForGans},
     {"MultiGPUGANTrainer", kForGans},
     {"BytePSTrainer", kForManyMachines},
     {"DistributedTrainerReplicated", kForManyMachines},
     {"DistributedTrainerParameterServer", kForManyMachines}}};

/// Makes the parts of an experiment; all mistakes go to one place.
class ExperimentMaker {
 public:
  ExperimentMaker(Experiment& experiment, Diagnostics& errors) : e_(experiment), errors_(errors) {}

  void make() {
    const ExperimentConfig& c = e_.config;
    make_flows(c, e_, errors_);
    make_model();
    make_updates(c, e_, errors_);
    make_trainer();
    e_.input = make_slot(c.input, e_.position_of("input"), errors_);
    make_callbacks();
    make_predict();
    for (const Slot<Monitor>& slot : c.monitors) {
      auto monitor = Registry<Monitor>::make(slot.item, errors_);
      if (!monitor) continue;
      const ComponentItem item = component_item(slot.item, Monitor::kKind);
      for (const std::string& scalar : monitor->needed_scalars())
        e_.monitor_needs.push_back({scalar, "monitor " + item.name, item.position});
      e_.monitors.push_back(std::move(monitor));
    }
    if (c.name.empty() || c.name == "." || c.name == ".." || c.name.find('/') != std::string::npos) {
      errors_.add(
          e_.position_of("name"),
          "'name' is '" + c.name +
              "'; it must be the name of a folder in train_log, not a path; for a path, use --log-dir");
    }
    if (c.max_epoch < c.starting_epoch) {
      errors_.add(e_.position_of("max_epoch"), "'max_epoch' is " + std::to_string(c.max_epoch) +
                                                   ", below 'starting_epoch' " +
                                                   std::to_string(c.starting_epoch));
    }
  }

 private:
  void make_trainer() {
    const Slot<Trainer>& slot = e_.config.trainer;
    const ConfigNode& item = slot.item;
    const bool has_params = item.is_map() && item.size() == 1;
    const std::string name = has_params ? item.entries()[0].key : item.is_string() ? item.text() : "";
    for (const auto& [of_tensorpack, instead] : kTrainersOfTensorpack) {
      if (name != of_tensorpack) continue;
      errors_.add(item.position(), "unknown trainer '" + name + "'; " + instead);
      return;
    }
    e_.trainer = make_slot(slot, e_.position_of("trainer"), errors_);
  }

  void make_model() {
    if (e_.config.model.is_null()) return;
    const auto flow_of = [this](const std::string& name) {
      const auto flow = e_.flows.find(name);
      return flow == e_.flows.end() ? nullptr : &flow->second;
    };
    e_.tower = make_tower(e_.config, e_.source.root, flow_of, errors_);
  }

  /// Default callbacks come after the others; listed ones are not added again.
  void make_callbacks() {
    std::set<std::string> listed;
    for (const Slot<Callback>& slot : e_.config.callbacks) {
      add_callback(slot);
      listed.insert(type_of_callback(slot.item));
    }
    for (const Slot<Callback>& slot : e_.config.default_callbacks.list) {
      if (!listed.contains(type_of_callback(slot.item))) add_callback(slot);
    }
    e_.callbacks = list_.take();
  }

  void add_callback(const Slot<Callback>& slot) {
    list_.add(slot, errors_);
    check_flow_names_in(slot.item);
  }

  /// Every parameter for the name of a flow must be the name of one, also in inner callbacks.
  void check_flow_names(const ComponentItem& item) {
    const ComponentInfo* info = Registry<Callback>::table().find(item.name);
    if (info == nullptr) return;  // reported when it is made
    for (const FieldInfo& field : info->fields()) {
      const ConfigNode* value = item.params.find(field.name);
      if (value == nullptr) continue;
      const bool is_flow = field.type.base == FieldType::Base::kReference && field.type.of == FlowName::kWhat;
      if (is_flow && value->is_string() && !e_.config.data.contains(value->text()))
        errors_.add(unknown_flow(value->text(), value->position()), value->position());
      if (field.type.is_component(Callback::kKind)) check_flow_names_in(*value);
      if (!field.type.is_list_of_components(Callback::kKind) || !value->is_list()) continue;
      for (const ConfigNode& inner : value->items()) check_flow_names_in(inner);
    }
  }

  void check_flow_names_in(const ConfigNode& item) {
    try {
      check_flow_names(component_item(item, Callback::kKind));
    } catch (const ConfigError&) {
      return;  // reported when it is made
    }
  }

  void make_predict() {
    const PredictSection& predict = e_.config.predict;
    if (!predict.outputs.is_null()) {
      parse_predict_outputs(predict.outputs, errors_);
      if (predict.data.empty())  // an image of the right size would not be prepared as in training
        errors_.add(
            predict.outputs.position(),
            "predict: 'data' is missing; set it to the flow that prepares files, such as `data: validation`");
    }
    if (predict.data.empty() || e_.config.data.contains(predict.data.name)) return;
    errors_.add(unknown_flow(predict.data.name, predict.data.position), predict.data.position);
  }

  ConfigError unknown_flow(const std::string& name, const Position& position) const {
    std::vector<std::string> known;
    for (const auto& [flow, node] : e_.config.data) known.push_back(flow);
    return unknown_reference("flow", name, position, known);
  }

  Experiment& e_;
  Diagnostics& errors_;
  CallbackList list_;
};

std::string missing(const char* section, const std::string& trainer) {
  return std::string("'") + section + "' is missing; trainer " + trainer + " needs it";
}

}  // namespace

ExperimentConfig parse_experiment(const ConfigNode& root, const std::string& default_name,
                                  Diagnostics& errors) {
  ExperimentConfig config = experiment_schema().parse(root, "the config", errors);
  complete(config, default_name, errors);
  return config;
}

Experiment make_experiment(LoadedConfig source, const std::string& default_name,
                           std::optional<FittedData> stored) {
  Experiment experiment;
  if (stored) experiment.fit = std::make_shared<Fit>(std::move(*stored));
  experiment.source = std::move(source);
  Diagnostics errors;
  experiment.config = parse_experiment(experiment.source.root, default_name, errors);
  ExperimentMaker(experiment, errors).make();
  errors.throw_if_any();
  return experiment;
}

void follow(Experiment& experiment, FittedData stored) {
  experiment.fit = std::make_shared<Fit>(std::move(stored));
  experiment.flows.clear();
  Diagnostics errors;
  make_flows(experiment.config, experiment, errors);
  errors.throw_if_any();
}

LoadedConfig load_experiment_config(const std::string& path, const std::vector<std::string>& overrides) {
  return load_config(path, {.overrides = overrides, .structure = config_structure()});
}

LoadedConfig load_experiment_config_text(const std::string& text, const std::string& name,
                                         const std::vector<std::string>& overrides) {
  return load_config_text(text, name, {.overrides = overrides, .structure = config_structure()});
}

Experiment load_experiment(const std::string& path, const std::vector<std::string>& overrides) {
  return make_experiment(load_experiment_config(path, overrides), fs::path(path).stem().string());
}

void Experiment::require_for_training() const {
  const Trainer::Needs needs = trainer->needs();
  const std::string type = component_item(config.trainer.item, Trainer::kKind).name;
  Diagnostics errors;
  if (needs.model && !tower) errors.add(position_of("model"), missing("model", type));
  if (needs.optimizer && updates.empty()) errors.add(position_of("optimizer"), missing("optimizer", type));
  if (needs.data && !flows.contains("train")) {
    errors.add(position_of("data"), missing("data.train", type));
  }
  errors.throw_if_any();
}

TrainSetup Experiment::train_setup(Plan& plan, Comm& world) const {
  TrainSetup setup;
  setup.tower = tower.get();
  setup.updates = updates;
  setup.flows = &flows;
  setup.input = input.get();
  setup.engine = config.engine;
  setup.plan = &plan;
  setup.world = &world;
  setup.seed = static_cast<uint64_t>(config.seed);
  return setup;
}

ConfigNode Experiment::effective() const {
  ConfigNode root = experiment_schema().dump(config);
  std::vector<ConfigNode::Entry> data;
  for (const auto& [name, made] : flows) {
    const ConfigNode node = Codec<FlowField>::dump({config.data.at(name)});
    const ConfigNode list = node.is_map() ? *node.find("flow") : node;
    const FlowSettings& s = made.settings();
    data.push_back({name, ConfigNode{{"flow", list},
                                     {"workers", Codec<WorkerCount>::dump(s.workers)},
                                     {"prefetch", s.prefetch},
                                     {"on_error", Codec<OnError>::dump(s.on_error)}}});
  }
  root = root.with("data", ConfigNode::map(std::move(data)));
  return tower ? root.with("model", effective_model(config.model)) : root;
}

}  // namespace tpack
