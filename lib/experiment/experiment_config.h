#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/schema.h"
#include "learner/model_config.h"
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

/// A file of the `init` section.
struct InitFile {
  Ref<Path> from;
  std::string map;   // as Naming::map
  std::string part;  // as Naming::part
};
struct InitSource : InitFile {
  LoadRules rules;
};
/// The `init` section: initial weights of a new run, from files in order; later ones overwrite earlier ones.
struct InitSection {
  std::vector<InitSource> sources;
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

/// All sections of a config: values are parsed, components are not parsed yet.
struct ExperimentConfig : ModelConfig {
  int tpack = 1;
  Slot<Trainer> trainer{"Simple"};
  Slot<InputSource> input{"Queue"};
  int64_t starting_epoch = 1;
  int64_t max_epoch = 99999;
  StepsPerEpoch steps_per_epoch;
  std::vector<Slot<Callback>> callbacks;
  DefaultCallbacks default_callbacks = DefaultCallbacks::usual();
  std::vector<Slot<Monitor>> monitors{{"Console"}, {"JSONWriter"}, {"TensorBoard"}, {"CSV"}};
  InitSection init;
  std::vector<Gate> gates;
};

/// The description of all sections, for parsing, `tpack schema` and the effective config.
Schema<ExperimentConfig> experiment_schema();
/// The structure of a config, for load_config and tools.
FieldType config_structure();

}  // namespace tpack
