#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_device.h"
#include "config/load_config.h"
#include "core/schema.h"
#include "dataflow/data_flow.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_field.h"
#include "graph/tower_function.h"
#include "learner/update_section.h"
#include "model/model.h"
#include "optim/update.h"
#include "sources/split_settings.h"

namespace tpack {

/// The dataflows of the `data` section, not parsed yet.
using FlowMap = FlowScope;
template <>
struct Codec<FlowMap> {
  static FieldType type() { return FieldType::map_of(Codec<FlowField>::type(), "a map of flows by name"); }
  static std::optional<FlowMap> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const FlowMap& flows);
};

/// The `engine` section.
template <>
struct Codec<EngineSettings> {
  static FieldType type();
  static std::optional<EngineSettings> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const EngineSettings& settings);
};

/// The `predict` section: inputs and outputs of `tpack infer`.
struct PredictSection {
  Ref<FlowName> data;  // files go through this flow's stages after its source
  ConfigNode outputs;  // null: not given
};
template <>
struct Codec<PredictSection> {
  static FieldType type();
  static std::optional<PredictSection> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const PredictSection& predict);
};

/// The sections of a config about the model and its data: values are read, components are still in the form
/// of the config.
struct ModelConfig {
  std::string name;
  int64_t seed = 1;
  std::vector<Ref<Path>> plugins;
  ConfigNode vars = ConfigNode::map({});
  FlowMap data;
  ConfigNode split;  // null: missing, or already in `data` (apply_split)
  ConfigNode model;
  Slot<Optimizer> optimizer;
  std::vector<UpdateSection> updates;
  VariablePatterns freeze;
  EngineSettings engine;
  PredictSection predict;
};

/// Adds these sections to the schema of a ModelConfig or a derived config.
template <std::derived_from<ModelConfig> C>
Schema<C> with_model_sections(Schema<C> schema) {
  const auto in = []<class T>(T ModelConfig::*member) { return static_cast<T C::*>(member); };
  FieldType model = FieldType::section(model_fields(), "a model");
  model.nullable = true;
  FieldType split = FieldType::section(split_settings_schema().fields(), "division of the data", "shares");
  split.nullable = true;
  return schema
      .field("name", in(&ModelConfig::name), "name of the run and its folder; default: the file's name")
      .field("seed", in(&ModelConfig::seed), at_least(0), "seed of all random numbers")
      .field("plugins", in(&ModelConfig::plugins), "shared libraries with more components")
      .field("vars", in(&ModelConfig::vars), "values for expressions")
      .field("data", in(&ModelConfig::data), "dataflows by name; `train` is the training data")
      .field("split", in(&ModelConfig::split),
             "divides the source of `train`: flows of `data` that begin without a source get their part of "
             "it; 0.2 is a fifth for validation")
      .type(std::move(split))
      .field("model", in(&ModelConfig::model), "the network, its cost and its metrics")
      .type(std::move(model))
      .field("optimizer", in(&ModelConfig::optimizer), "how gradients update the variables")
      .field("updates", in(&ModelConfig::updates),
             "for several costs or networks: the updates of a step by name, in order; replaces `optimizer`")
      .field("freeze", in(&ModelConfig::freeze),
             "trainable variables that keep their values: a regular expression for whole names "
             "(features/.*/W) or a name with everything below it; one of them or a list")
      .field("engine", in(&ModelConfig::engine), "settings of the engine that runs programs")
      .field("predict", in(&ModelConfig::predict), "inputs and outputs of `tpack infer`");
}

/// Sections about a run; reading a ModelConfig ignores them.
const std::vector<std::string>& sections_of_runs();
/// The structure of a config with these sections and `include`, for load_config and tools.
FieldType structure_of(std::vector<FieldInfo> sections);

/// Reads a config with its includes, without making components. `structure`: of all its sections. Errors: as
/// load_config.
LoadedConfig load_model_config(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same from the text of a config (in a checkpoint); positions show `name` as the file.
LoadedConfig load_model_config_text(const std::string& text, const std::string& name,
                                    const std::vector<std::string>& overrides = {});

/// The sections of a loaded config, without making components; loads its plugins. Errors: ConfigError for a
/// plugin, if there are any.
ModelConfig parse_model_config(const ConfigNode& root, const std::string& default_name, Diagnostics& errors);
/// The steps after reading the sections: the parts of `split`, the name, plugins.
void complete(ModelConfig& config, const std::string& default_name, Diagnostics& errors);

/// The components of the sections, made and checked, but not opened.
struct ModelParts {
  LoadedConfig source;
  std::map<std::string, DataFlow> flows;
  std::shared_ptr<Fit> fit;              // learned values for flows other than data.train; null: none
  std::unique_ptr<TowerFunction> tower;  // null: no model
  /// The updates of the model, in order; one without a name if the config has `optimizer`.
  std::vector<Update> updates;
  std::vector<std::unique_ptr<Optimizer>> optimizers;  // of the updates

  std::vector<std::string> flow_names() const;
  /// The flow with that name. Errors: ConfigError with suggestion.
  const DataFlow& flow(const std::string& name, const Position& position = {}) const;
  /// data.train; null if there is none.
  const DataFlow* train_flow() const;
  /// The position of a key of the config; that of the whole config if it has no such key.
  Position position_of(const std::string& key) const;
};

/// Makes a component; an empty item is reported at `position`.
template <class Kind>
std::unique_ptr<Kind> make_slot(const Slot<Kind>& slot, const Position& position, Diagnostics& errors) {
  if (!slot.item.is_null()) return Registry<Kind>::make(slot.item, errors);
  errors.add(position, "an empty " + std::string(Kind::kKind) + "; name one, or remove the key");
  return nullptr;
}

/// Makes the flows: data.train first, because the others use its learned values, unless `fit` already has
/// them.
void make_flows(const ModelConfig& config, ModelParts& parts, Diagnostics& errors);
/// Makes the model of a config; null, after reporting, for one with mistakes. Inputs without a layout get the
/// layout of the flow that feeds the model; `flow_of` returns a flow of `data` by name, null if it has
/// mistakes.
using FlowLookup = std::function<const DataFlow*(const std::string& name)>;
std::unique_ptr<TowerFunction> make_tower(ModelConfig& config, const ConfigNode& root,
                                          const FlowLookup& flow_of, Diagnostics& errors);
/// Makes the optimizer or updates.
void make_updates(const ModelConfig& config, ModelParts& parts, Diagnostics& errors);

}  // namespace tpack
