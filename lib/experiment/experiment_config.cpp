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

/// Reads a value of fixed names; for a section that is a field of another one.
template <class P>
std::optional<P> parse_section(const Schema<P>& schema, const ConfigNode& node, const std::string& owner,
                               Reader& reader) {
  const size_t before = reader.errors().count();
  P params = schema.parse(node, owner, reader.errors());
  return reader.errors().count() == before ? std::optional(std::move(params)) : std::nullopt;
}

}  // namespace

template <>
struct EnumNames<EngineSettings::Backend> {
  static constexpr std::array<std::pair<const char*, EngineSettings::Backend>, 3> kNames = {
      {{"auto", EngineSettings::Backend::kAuto},
       {"reference", EngineSettings::Backend::kReference},
       {"cpu", EngineSettings::Backend::kKernels}}};
};

namespace {

/// Types of variables and activations.
enum class EngineFloat : uint8_t { kFloat32, kFloat64 };
/// Types that the factors of matrix products are rounded to.
enum class ProductPrecision : uint8_t { kFp32, kBf16, kFp16 };

}  // namespace

template <>
struct EnumNames<EngineFloat> {
  static constexpr std::array<std::pair<const char*, EngineFloat>, 2> kNames = {
      {{"float32", EngineFloat::kFloat32}, {"float64", EngineFloat::kFloat64}}};
};
template <>
struct EnumNames<ProductPrecision> {
  static constexpr std::array<std::pair<const char*, ProductPrecision>, 3> kNames = {
      {{"fp32", ProductPrecision::kFp32},
       {"bf16", ProductPrecision::kBf16},
       {"fp16", ProductPrecision::kFp16}}};
};

namespace {

struct EngineParams {
  EngineSettings::Backend backend = EngineSettings{}.backend;
  EngineFloat dtype = EngineFloat::kFloat32;
  ProductPrecision precision = ProductPrecision::kFp32;
  DeviceOptions::Algorithm algorithm = EngineSettings{}.algorithm;
  double timing_s = EngineSettings{}.timing_s;
  WorkerCount threads;
};

/// By precision.
constexpr std::array kFactors = {DType::kFloat32, DType::kBFloat16, DType::kFloat16};

Schema<EngineParams> engine_schema() {
  return Schema<EngineParams>("Settings of the engine that runs programs.")
      .field("backend", &EngineParams::backend, "auto: the fastest one of this build and machine")
      .field("dtype", &EngineParams::dtype,
             "type of variables and activations; float64: only on the reference backend")
      .field("precision", &EngineParams::precision,
             "type that the factors of matrix products are rounded to, in training and inference; products, "
             "sums, variables, convolutions and everything else stay float32. bf16 is faster on processors "
             "with bf16 multiplication (AVX512-BF16, AMX); fp16 is computed in float32")
      .field("algorithm", &EngineParams::algorithm,
             "auto: measured, unless the plan already has the choice; heuristic: fixed rules; direct: direct "
             "convolutions")
      .field("timing_s", &EngineParams::timing_s, at_least(0),
             "seconds for measurements before the first step, starting with the most work; fixed rules "
             "choose the rest")
      .field("threads", &EngineParams::threads,
             "threads of each tower; auto: the processors divided among the towers");
}

Schema<PredictSection> predict_schema() {
  const FieldType names = FieldType::list_of(Codec<Ref<LayerOutput>>::type());
  const FieldType by_name =
      FieldType::map_of(FieldType::either({FieldType::component(Layer::kKind), described_output_type()},
                                          "an output or a layer"),
                        "outputs by name");
  FieldType outputs = FieldType::either({names, by_name}, "outputs: names, or layers by name");
  outputs.nullable = true;
  return Schema<PredictSection>("Inputs and outputs of `tpack infer`.")
      .field("data", &PredictSection::data, "flow that prepares files")
      .field("outputs", &PredictSection::outputs,
             "outputs of the model: a list, or a map by name; {p: {Softmax: fc}} applies a layer to the "
             "output fc, {p: {output: fc, range: [0, 1]}} sets the values of an image that are drawn as "
             "black and white")
      .type(std::move(outputs));
}

ConfigNode texts(const std::vector<std::string>& values) {
  return Codec<std::vector<std::string>>::dump(values);
}

}  // namespace

template <>
struct Codec<EngineSettings> {
  static FieldType type() { return FieldType::section(engine_schema().fields(), "engine settings"); }
  static std::optional<EngineSettings> parse(const ConfigNode& node, Reader& reader) {
    const auto p = parse_section(engine_schema(), node, "engine", reader);
    if (!p) return std::nullopt;
    const bool reference = p->backend == EngineSettings::Backend::kReference;
    if (p->dtype == EngineFloat::kFloat64 && !reference) {
      reader.errors().add(node.find("dtype")->position(),
                          "'dtype' of engine: float64 needs `backend: reference`");
      return std::nullopt;
    }
    if (p->dtype == EngineFloat::kFloat64 && p->precision != ProductPrecision::kFp32) {
      reader.errors().add(
          node.find("precision")->position(),
          "'precision' of engine: products of float64 are not rounded; remove one of the two");
      return std::nullopt;
    }
    EngineSettings settings;
    settings.backend = p->backend;
    settings.factors = kFactors[static_cast<size_t>(p->precision)];
    settings.dtype = p->dtype == EngineFloat::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    settings.algorithm = p->algorithm;
    settings.timing_s = p->timing_s;
    settings.threads = p->threads.count;
    return settings;
  }
  static ConfigNode dump(const EngineSettings& settings) {
    const bool is_double = settings.dtype == DType::kFloat64;
    const auto precision = std::ranges::find(kFactors, settings.factors) - kFactors.begin();
    return engine_schema().dump({settings.backend, is_double ? EngineFloat::kFloat64 : EngineFloat::kFloat32,
                                 static_cast<ProductPrecision>(precision), settings.algorithm,
                                 settings.timing_s, WorkerCount{settings.threads}});
  }
};

template <>
struct Codec<InitSection> {
  static FieldType type() {
    std::vector<FieldInfo> fields = load_rules_fields();
    fields.insert(fields.begin(), {.name = "from",
                                   .type = Codec<Ref<Path>>::type(),
                                   .required = true,
                                   .doc = "checkpoint with the weights"});
    FieldType type = FieldType::section(std::move(fields), "initial weights");
    type.nullable = true;
    return type;
  }
  static std::optional<InitSection> parse(const ConfigNode& node, Reader& reader) {
    const size_t before = reader.errors().count();
    if (node.is_null()) return InitSection{};
    if (!check_is_map(node, "init", reader.errors(), "from")) return std::nullopt;
    InitSection init;
    if (const ConfigNode* from = node.find("from")) {
      Reader path("'from' of init", {}, reader.errors());
      init.from = Codec<Ref<Path>>::parse(*from, path).value_or(Ref<Path>{});
      if (from->is_string() && from->text().empty()) path.fail(*from, "empty; name a checkpoint");
    } else {
      reader.errors().add(node.position(), "init: 'from' is missing (a checkpoint)");
    }
    init.rules = parse_load_rules(node.without("from"), "init", reader.errors());
    return reader.errors().count() == before ? std::optional(std::move(init)) : std::nullopt;
  }
  static ConfigNode dump(const InitSection& init) {
    if (init.from.empty()) return {};
    std::vector<ConfigNode::Entry> rename;
    for (const auto& [from, to] : init.rules.rename) rename.push_back({from, to});
    return {{"from", Codec<Ref<Path>>::dump(init.from)},
            {"include", texts(init.rules.include)},
            {"exclude", texts(init.rules.exclude)},
            {"rename", ConfigNode::map(std::move(rename))}};
  }
};

template <>
struct Codec<PredictSection> {
  static FieldType type() { return FieldType::section(predict_schema().fields(), "outputs to predict"); }
  static std::optional<PredictSection> parse(const ConfigNode& node, Reader& reader) {
    return parse_section(predict_schema(), node, "predict", reader);
  }
  static ConfigNode dump(const PredictSection& predict) { return predict_schema().dump(predict); }
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

std::optional<FlowMap> Codec<FlowMap>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "a map of flows by name ({train: [...]})");
    return std::nullopt;
  }
  FlowMap flows;
  for (const ConfigNode::Entry& entry : node.entries()) flows[entry.key] = entry.value;
  return flows;
}

ConfigNode Codec<FlowMap>::dump(const FlowMap& flows) {
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [name, flow] : flows) entries.push_back({name, Codec<FlowField>::dump({flow})});
  return ConfigNode::map(std::move(entries));
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
  FieldType model = FieldType::section(model_fields(), "a model");
  model.nullable = true;
  const Schema<SplitSettings> settings = split_settings_schema();
  FieldType split = FieldType::section(settings.fields(), "division of the data", "shares");
  split.nullable = true;
  return Schema<C>("An experiment: data, model and training.")
      .field("tpack", &C::tpack, between(1, 1), "version of the config format")
      .field("name", &C::name, "name of the run and its folder; default: the file's name")
      .field("seed", &C::seed, at_least(0), "seed of all random numbers")
      .field("plugins", &C::plugins, "shared libraries with more components")
      .field("vars", &C::vars, "values for expressions")
      .field("data", &C::data, "dataflows by name; `train` is the training data")
      .field("split", &C::split,
             "divides the source of `train`: flows of `data` that begin without a source get their part of "
             "it; 0.2 is a fifth for validation")
      .type(std::move(split))
      .field("model", &C::model, "the network, its cost and its metrics")
      .type(std::move(model))
      .field("optimizer", &C::optimizer, "how gradients update the variables")
      .field("updates", &C::updates,
             "for several costs or networks: the updates of a step by name, in order; replaces `optimizer`")
      .field("freeze", &C::freeze,
             "trainable variables that keep their values: a regular expression for whole names "
             "(features/.*/W) or a name with everything below it; one of them or a list")
      .field("trainer", &C::trainer, "how steps run, and on which devices")
      .field("input", &C::input, "how batches get to the devices")
      .field("engine", &C::engine, "settings of the engine that runs programs")
      .field("starting_epoch", &C::starting_epoch, at_least(1), "number of the first epoch")
      .field("max_epoch", &C::max_epoch, at_least(0), "number of the last epoch")
      .field(
          "steps_per_epoch", &C::steps_per_epoch,
          "steps per epoch, after which callbacks run; data: the number of steps in a pass over data.train")
      .field("callbacks", &C::callbacks, "actions besides the training step")
      .field("default_callbacks", &C::default_callbacks, "callbacks that run after `callbacks`, or false")
      .field("monitors", &C::monitors, "where statistics are written")
      .field("init", &C::init, "initial weights of a new run")
      .field("gates", &C::gates,
             "bounds by statistic, which must be met at the end; `best STATISTIC`: bound for the best value "
             "of the run")
      .field("predict", &C::predict, "inputs and outputs of `tpack infer`");
}

FieldType config_structure() {
  std::vector<FieldInfo> fields = experiment_schema().fields();
  const FieldType path = FieldType::text();
  fields.push_back({.name = "include",
                    .type = FieldType::either({path, FieldType::list_of(path)}, "paths"),
                    .default_value = ConfigNode::list({}),
                    .doc = "config files that this one extends; paths are relative to this file"});
  return FieldType::section(std::move(fields), "a config");
}

}  // namespace tpack
