#include "experiment/experiment_config.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "callbacks/default_callbacks.h"
#include "core/text.h"
#include "dataflow/flow_settings.h"
#include "model/layer.h"
#include "model/model.h"
#include "predict/predict_outputs.h"
#include "sources/split_settings.h"

namespace tpack {
namespace {

constexpr std::array<std::pair<const char*, Gate::Bound>, 4> kBounds = {{{">=", Gate::Bound::kAtLeast},
                                                                         {"<=", Gate::Bound::kAtMost},
                                                                         {">", Gate::Bound::kAbove},
                                                                         {"<", Gate::Bound::kBelow}}};

constexpr std::string_view kBestOf = "best ";

const char* text_of(Gate::Bound bound) {
  for (const auto& [text, value] : kBounds) {
    if (value == bound) return text;
  }
  return "";
}

}  // namespace

namespace {

ConfigNode texts(const std::vector<std::string>& values) {
  return Codec<std::vector<std::string>>::dump(values);
}

Schema<InitFile> file_schema() {
  return Schema<InitFile>("The file of initial weights.")
      .field("from", &InitFile::from,
             "file with the weights: a checkpoint of tpack, safetensors, .npz, .pt or .pth of PyTorch, "
             ".keras or .h5 of Keras, .onnx, .caffemodel")
      .field("map", &InitFile::map,
             "how its layers are called here: `names` (as there), `order` (by order and shape), the name of "
             "a known map, or a .yaml file with one; default: what fits most variables")
      .field("part", &InitFile::part, "key of the file under which the weights are; default: the usual ones");
}

}  // namespace

template <>
struct Codec<InitSource> {
  static FieldType type() {
    std::vector<FieldInfo> fields = load_rules_fields();
    std::vector<FieldInfo> own = file_schema().fields();
    own[0].required = true;  // a message of its own says that `from` is missing
    fields.insert(fields.begin(), own.begin(), own.end());
    return FieldType::section(std::move(fields), "initial weights");
  }
  static std::optional<InitSource> parse(const ConfigNode& node, Reader& reader) {
    const size_t before = reader.errors().count();
    if (!check_is_map(node, "init", reader.errors(), "from")) return std::nullopt;
    std::vector<ConfigNode::Entry> own;
    ConfigNode rules = ConfigNode::map({});
    const Schema<InitFile> schema = file_schema();
    std::vector<FieldInfo> known = schema.fields();
    for (const FieldInfo& field : known)
      if (const ConfigNode* const value = node.find(field.name)) own.push_back({field.name, *value});
    for (const FieldInfo& field : load_rules_fields()) {
      if (const ConfigNode* const value = node.find(field.name)) rules = rules.with(field.name, *value);
      known.push_back(field);
    }
    check_keys(node, known, "init", reader.errors());
    InitFile file = schema.parse(ConfigNode::map(std::move(own)), "init", reader.errors());
    const ConfigNode* const from = node.find("from");
    if (from == nullptr)
      reader.errors().add(node.position(), "init: 'from' is missing (a file of weights)");
    else if (from->is_null() || (from->is_string() && from->text().empty()))
      reader.errors().add(from->position(), "'from' of init: empty; name a file of weights");
    InitSource source{std::move(file), parse_load_rules(rules, "init", reader.errors())};
    return reader.errors().count() == before ? std::optional(std::move(source)) : std::nullopt;
  }
  static ConfigNode dump(const InitSource& source) {
    std::vector<ConfigNode::Entry> rename;
    for (const auto& [from, to] : source.rules.rename) rename.push_back({from, to});
    return {{"from", Codec<Ref<Path>>::dump(source.from)},
            {"map", source.map},
            {"part", source.part},
            {"include", texts(source.rules.include)},
            {"exclude", texts(source.rules.exclude)},
            {"rename", ConfigNode::map(std::move(rename))},
            {"on_mismatch", Codec<OnMismatch>::dump(source.rules.on_mismatch)}};
  }
};

template <>
struct Codec<InitSection> {
  static FieldType type() {
    const FieldType source = Codec<InitSource>::type();
    FieldType type =
        FieldType::either({source, FieldType::list_of(source)},
                          "initial weights, or a list of them: later ones overwrite earlier ones");
    type.nullable = true;
    return type;
  }
  static std::optional<InitSection> parse(const ConfigNode& node, Reader& reader) {
    if (node.is_null()) return InitSection{};
    if (node.is_list()) {
      if (node.size() == 0) {
        reader.errors().add(
            node.position(),
            "init: an empty list; name a file of weights (`- from: FILE`), or write `init: null`");
      }
      auto sources = Codec<std::vector<InitSource>>::parse(node, reader);
      if (!sources || sources->empty()) return std::nullopt;
      return InitSection{std::move(*sources)};
    }
    auto source = Codec<InitSource>::parse(node, reader);
    if (!source) return std::nullopt;
    return InitSection{{std::move(*source)}};
  }
  static ConfigNode dump(const InitSection& init) {
    if (init.sources.empty()) return {};
    if (init.sources.size() == 1) return Codec<InitSource>::dump(init.sources[0]);
    return Codec<std::vector<InitSource>>::dump(init.sources);
  }
};

DefaultCallbacks DefaultCallbacks::usual() {
  DefaultCallbacks usual;
  const ConfigNode items = tpack::default_callbacks();
  for (const ConfigNode& item : items.items()) usual.list.push_back({item});
  return usual;
}

std::optional<DefaultCallbacks> Codec<DefaultCallbacks>::parse(const ConfigNode& node, Reader& reader) {
  if (node.kind() == ConfigNode::Kind::kBool && !node.as_bool()) return DefaultCallbacks{};
  if (!node.is_list()) {
    reader.wrong_type(node, type().of);
    return std::nullopt;
  }
  auto list = Codec<std::vector<Slot<Callback>>>::parse(node, reader);
  return list ? std::optional(DefaultCallbacks{std::move(*list)}) : std::nullopt;
}

ConfigNode Codec<DefaultCallbacks>::dump(const DefaultCallbacks& value) {
  if (value.list.empty()) return false;
  return Codec<std::vector<Slot<Callback>>>::dump(value.list);
}

std::optional<StepsPerEpoch> Codec<StepsPerEpoch>::parse(const ConfigNode& node, Reader& reader) {
  constexpr int64_t kMaxSteps = 1000000000000;
  if (node.is_string() && node.text() == "data") return StepsPerEpoch{};
  if (node.kind() == ConfigNode::Kind::kInt && node.as_int() >= 1 && node.as_int() <= kMaxSteps)
    return StepsPerEpoch{node.as_int()};
  reader.wrong_type(node, "data or a number from 1 to 10^12");
  return std::nullopt;
}

ConfigNode Codec<StepsPerEpoch>::dump(StepsPerEpoch value) {
  return value.is_data() ? ConfigNode("data") : ConfigNode(*value.steps);
}

bool Gate::holds(double figure) const {
  switch (bound) {
    case Bound::kAtLeast:
      return figure >= value;
    case Bound::kAbove:
      return figure > value;
    case Bound::kAtMost:
      return figure <= value;
    case Bound::kBelow:
      return figure < value;
  }
  return false;
}

std::string Gate::str() const { return key() + " " + text_of(bound) + " " + shortest(value); }

std::string Gate::key() const { return (of_best ? std::string(kBestOf) : "") + name; }

Gate parse_gate(const std::string& name, const std::string& bound, const Position& position) {
  const bool of_best = name.starts_with(kBestOf);
  const std::string statistic(trim(std::string_view(name).substr(of_best ? kBestOf.size() : 0)));
  for (const auto& [sign, value] : kBounds) {
    if (!bound.starts_with(sign)) continue;
    const std::string number(trim(std::string_view(bound).substr(std::string_view(sign).size())));
    double limit = 0;
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), limit);
    if (failure != std::errc{} || end != number.data() + number.size() || !std::isfinite(limit)) break;
    return {statistic, value, limit, position, of_best};
  }
  throw ConfigError(position, "gate of '" + name +
                                  "': expected >=, >, <= or < and a number, such as \">= 0.98\"; found '" +
                                  bound + "'");
}

std::optional<std::vector<Gate>> Codec<std::vector<Gate>>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "bounds by statistic ({validation_accuracy: \">= 0.98\"})");
    return std::nullopt;
  }
  std::vector<Gate> gates;
  for (const ConfigNode::Entry& entry : node.entries()) {
    try {
      gates.push_back(parse_gate(entry.key,
                                 entry.value.is_scalar() ? entry.value.text() : entry.value.describe(),
                                 entry.value.position()));
    } catch (const ConfigError& error) {
      reader.errors().add(error, entry.key_position);
    }
  }
  return gates.size() == node.size() ? std::optional(std::move(gates)) : std::nullopt;
}

ConfigNode Codec<std::vector<Gate>>::dump(const std::vector<Gate>& gates) {
  std::vector<ConfigNode::Entry> entries;
  for (const Gate& gate : gates) {
    entries.push_back({gate.key(), std::string(text_of(gate.bound)) + " " + shortest(gate.value)});
  }
  return ConfigNode::map(std::move(entries));
}

Schema<ExperimentConfig> experiment_schema() {
  using C = ExperimentConfig;
  return with_model_sections(Schema<C>("An experiment: data, model and training.")
                                 .field("tpack", &C::tpack, between(1, 1), "version of the config format"))
      .field("trainer", &C::trainer, "how steps run, and on which devices")
      .field("input", &C::input, "how batches get to the devices")
      .field("starting_epoch", &C::starting_epoch, at_least(1), "number of the first epoch")
      .field("max_epoch", &C::max_epoch, at_least(0), "number of the last epoch")
      .field(
          "steps_per_epoch", &C::steps_per_epoch,
          "steps per epoch, after which callbacks run; data: the number of steps in a pass over data.train")
      .field("callbacks", &C::callbacks, "actions besides the training step")
      .field("default_callbacks", &C::default_callbacks, "callbacks that run after `callbacks`, or false")
      .field("monitors", &C::monitors, "where statistics are written")
      .field("init", &C::init, "initial weights of a new run: a file, or several in order")
      .field("gates", &C::gates,
             "bounds by statistic, which must be met at the end; `best STATISTIC`: bound for the best value "
             "of the run");
}

FieldType config_structure() { return structure_of(experiment_schema().fields()); }

}  // namespace tpack
