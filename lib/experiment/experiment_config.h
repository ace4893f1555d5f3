#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/schema.h"
#include "dataflow/flow_field.h"
#include "experiment/update_section.h"
#include "predict/load_weights.h"
#include "train/callback.h"
#include "train/trainer.h"

namespace tpack {

/// `steps_per_epoch`: a number, or `data` for one pass over the data by all replicas together.
struct StepsPerEpoch {
  std::optional<int64_t> steps;  // nothing: data

  bool is_data() const { return !steps.has_value(); }
};
template <>
struct Codec<StepsPerEpoch> {
  static FieldType type() {
    return FieldType::either({FieldType::choice({"data"}), FieldType::integer()}, "data or an integer");
  }
  static std::optional<StepsPerEpoch> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(StepsPerEpoch value);
};

/// The `init` section: initial weights of a new run.
struct InitSection {
  Ref<Path> from;
  LoadRules rules;
};

/// A statistic and its bound at the end of the run: `validation_accuracy: ">= 0.985"`; or for its best value
/// in the run: `best validation_accuracy: ">= 0.99"`.
struct Gate {
  enum class Bound : uint8_t { kAtLeast, kAbove, kAtMost, kBelow };
  std::string name;
  Bound bound = Bound::kAtLeast;
  double value = 0;
  Position position = {};
  bool of_best = false;

  /// The values that the bound applies to.
  Goal goal() const { return bound == Bound::kAtLeast || bound == Bound::kAbove ? Goal::kMax : Goal::kMin; }
  bool holds(double figure) const;
  /// "best validation_accuracy", as in configs.
  std::string key() const;
  /// "best validation_accuracy >= 0.985".
  std::string str() const;
};
/// Reads a bound such as ">= 0.985" of a statistic or of "best STATISTIC". Errors: ConfigError at the
/// position.
Gate parse_gate(const std::string& name, const std::string& bound, const Position& position);

template <>
struct Codec<std::vector<Gate>> {
  static FieldType type() { return FieldType::map_of(FieldType::text(), "bounds by statistic"); }
  static std::optional<std::vector<Gate>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<Gate>& gates);
};

/// `default_callbacks`: a list, or false for none.
struct DefaultCallbacks {
  std::vector<Slot<Callback>> list;

  static DefaultCallbacks usual();
};
template <>
struct Codec<DefaultCallbacks> {
  static FieldType type() {
    const FieldType off{.base = FieldType::Base::kBool, .choices = {"false"}};
    return FieldType::either({Codec<std::vector<Slot<Callback>>>::type(), off},
                             "false or a list of callbacks");
  }
  static std::optional<DefaultCallbacks> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const DefaultCallbacks& value);
};

/// The dataflows of the `data` section, not parsed yet.
using FlowMap = FlowScope;
template <>
struct Codec<FlowMap> {
  static FieldType type() { return FieldType::map_of(Codec<FlowField>::type(), "a map of flows by name"); }
  static std::optional<FlowMap> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const FlowMap& flows);
};

/// The `predict` section: inputs and outputs of `tpack infer`.
struct PredictSection {
  Ref<FlowName> data;  // files go through this flow's stages after its source
  ConfigNode outputs;  // null: not given
};

/// The sections of a config: values are parsed, components are not parsed yet.
struct ExperimentConfig {
  int tpack = 1;
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
  Slot<Trainer> trainer{"Simple"};
  Slot<InputSource> input{"Queue"};
  EngineSettings engine;
  int64_t starting_epoch = 1;
  int64_t max_epoch = 99999;
  StepsPerEpoch steps_per_epoch;
  std::vector<Slot<Callback>> callbacks;
  DefaultCallbacks default_callbacks = DefaultCallbacks::usual();
  std::vector<Slot<Monitor>> monitors{{"Console"}, {"JSONWriter"}, {"TensorBoard"}, {"CSV"}};
  InitSection init;
  std::vector<Gate> gates;
  PredictSection predict;
};

/// The description of all sections, for parsing, `tpack schema` and the effective config.
Schema<ExperimentConfig> experiment_schema();
/// The structure of a config, for load_config and tools.
FieldType config_structure();

}  // namespace tpack
