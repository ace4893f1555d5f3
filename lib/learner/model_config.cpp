#include "learner/model_config.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/text.h"
#include "dataflow/flow_settings.h"
#include "learner/model_inputs.h"
#include "learner/plugins.h"
#include "learner/split_section.h"
#include "model/image_layouts.h"
#include "model/layer.h"
#include "model/model.h"
#include "predict/predict_outputs.h"
#include "sources/split_settings.h"

namespace tpack {
namespace {

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

}  // namespace

template <>
struct EnumNames<EngineFloat> {
  static constexpr std::array<std::pair<const char*, EngineFloat>, 2> kNames = {
      {{"float32", EngineFloat::kFloat32}, {"float64", EngineFloat::kFloat64}}};
};

namespace {

struct EngineParams {
  EngineSettings::Backend backend = EngineSettings{}.backend;
  EngineFloat dtype = EngineFloat::kFloat32;
  Precision precision = EngineSettings{}.precision;
  DeviceOptions::Algorithm algorithm = EngineSettings{}.algorithm;
  double timing_s = EngineSettings{}.timing_s;
  bool recompute = EngineSettings{}.recompute;
  std::optional<int64_t> memory_mb;
  WorkerCount threads;
};

Schema<EngineParams> engine_schema() {
  return Schema<EngineParams>("Settings of the engine that runs programs.")
      .field("backend", &EngineParams::backend, "auto: the fastest one of this build and machine")
      .field("dtype", &EngineParams::dtype,
             "type of variables and activations; float64: only on the reference backend")
      .field("precision", &EngineParams::precision,
             "bf16: convolutions and matrix products take factors of 16 bits, and images between kernels are "
             "stored in 16 bits, in training and inference; variables, sums, statistics and costs stay "
             "float32. Faster on processors with bf16 multiplication (AVX512-BF16, AMX), with less memory. "
             "fp16: factors of matrix products are rounded to float16, computed in float32")
      .field("algorithm", &EngineParams::algorithm,
             "auto: measured, unless the plan already has the choice; heuristic: fixed rules; direct: direct "
             "convolutions")
      .field("timing_s", &EngineParams::timing_s, at_least(0),
             "seconds for measurements before the first step, starting with the most work; fixed rules "
             "choose the rest")
      .field("recompute", &EngineParams::recompute,
             "true: results of normalizations and activations are computed again in the backward pass "
             "instead of being stored: less memory, a few percent more time, the same bits")
      .field(
          "memory_mb", &EngineParams::memory_mb, at_least(1),
          "the memory that training may take, in MB (10^6 bytes): `tpack check` fails if it predicts more, "
          "and `BatchData: auto` of data.train becomes the largest batch that fits; none: no limit")
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

/// The folder for measured choices between runs.
std::string cache_folder() {
  if (const char* own = std::getenv("TPACK_CACHE_DIR")) return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME")) return std::string(xdg) + "/tpack";
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.cache/tpack";
}

/// An input of uint8 [height, width, 1 or 3], as in Npz.
bool looks_like_an_image(const ConfigNode& model, const std::string& component) {
  const ConfigNode* inputs = model.find("inputs");
  const ConfigNode* feed = model.find("feed");
  for (const auto& [name, input, position] : inputs->entries()) {
    const ConfigNode* fed = feed != nullptr && feed->is_map() ? feed->find(name) : nullptr;
    if ((fed != nullptr && fed->is_string() ? fed->text() : name) != component) continue;
    const ConfigNode* type = input.find("dtype");
    const ConfigNode* shape = input.find("shape");
    if (type == nullptr || !type->is_string() || type->text() != "uint8") return false;
    if (!shape->is_list() || shape->size() != 3) return false;
    const ConfigNode& channels = shape->items()[2];
    return channels.kind() == ConfigNode::Kind::kInt && (channels.as_int() == 1 || channels.as_int() == 3);
  }
  return false;
}

/// data.train or the flow of `predict`.
std::string flow_that_feeds(const ModelConfig& config) {
  return config.data.contains("train") ? "train" : config.predict.data.name;
}

/// Whether a component is an image, by the flow that feeds the model.
bool is_image_component(const ModelConfig& config, const FlowLookup& flow_of, const std::string& component) {
  const std::string name = flow_that_feeds(config);
  const DataFlow* flow = config.data.contains(name) ? flow_of(name) : nullptr;
  // A flow with mistakes might have provided it: then its mistakes are enough.
  if (flow == nullptr) return config.data.contains(name);
  // Unopened sources declare images as arrays of this kind.
  if (!flow->knows_spec()) return looks_like_an_image(config.model, component);
  const auto found = flow->spec().find(component);
  return !found || flow->spec()[*found].is_image;  // a missing one is reported separately
}

void check_cost(const UpdateSection& update, const ConfigNode& model, Diagnostics& errors) {
  if (model.is_null()) return;
  const std::vector<std::string> names = cost_names(model);
  if (std::find(names.begin(), names.end(), update.cost.name) != names.end()) return;
  if (update.cost.position.known()) {
    errors.add(unknown_reference("cost", update.cost.name, update.cost.position, names), update.position);
  } else {
    errors.add(update.position, "update " + update.name +
                                    ": 'cost' is missing; name one of model.costs: " + join(names, ", "));
  }
}

void add_update(Update update, const Slot<Optimizer>& slot, const ModelConfig& config, ModelParts& parts,
                Diagnostics& errors) {
  std::unique_ptr<Optimizer> optimizer = make_slot(slot, update.position, errors);
  if (!optimizer) return;
  update.optimizer = optimizer.get();
  update.frozen = config.freeze.all;
  parts.updates.push_back(std::move(update));
  parts.optimizers.push_back(std::move(optimizer));
}

}  // namespace

FieldType Codec<EngineSettings>::type() {
  return FieldType::section(engine_schema().fields(), "engine settings");
}

std::optional<EngineSettings> Codec<EngineSettings>::parse(const ConfigNode& node, Reader& reader) {
  const auto p = parse_section(engine_schema(), node, "engine", reader);
  if (!p) return std::nullopt;
  const bool reference = p->backend == EngineSettings::Backend::kReference;
  if (p->dtype == EngineFloat::kFloat64 && !reference) {
    reader.errors().add(node.find("dtype")->position(),
                        "'dtype' of engine: float64 needs `backend: reference`");
    return std::nullopt;
  }
  if (p->dtype == EngineFloat::kFloat64 && p->precision != Precision::kFp32) {
    reader.errors().add(node.find("precision")->position(),
                        "'precision' of engine: products of float64 are not rounded; remove one of the two");
    return std::nullopt;
  }
  EngineSettings settings;
  settings.backend = p->backend;
  settings.precision = p->precision;
  settings.dtype = p->dtype == EngineFloat::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  settings.algorithm = p->algorithm;
  settings.timing_s = p->timing_s;
  settings.recompute = p->recompute;
  settings.memory_mb = p->memory_mb.value_or(0);
  settings.threads = p->threads.count;
  return settings;
}
ConfigNode Codec<EngineSettings>::dump(const EngineSettings& settings) {
  const bool is_double = settings.dtype == DType::kFloat64;
  return engine_schema().dump({settings.backend, is_double ? EngineFloat::kFloat64 : EngineFloat::kFloat32,
                               settings.precision, settings.algorithm, settings.timing_s, settings.recompute,
                               settings.memory_mb > 0 ? std::optional(settings.memory_mb) : std::nullopt,
                               WorkerCount{settings.threads}});
}

FieldType Codec<PredictSection>::type() {
  return FieldType::section(predict_schema().fields(), "outputs to predict");
}

std::optional<PredictSection> Codec<PredictSection>::parse(const ConfigNode& node, Reader& reader) {
  return parse_section(predict_schema(), node, "predict", reader);
}

ConfigNode Codec<PredictSection>::dump(const PredictSection& predict) {
  return predict_schema().dump(predict);
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

const std::vector<std::string>& sections_of_runs() {
  static const std::vector<std::string> all = {
      "tpack",     "trainer",           "input",    "starting_epoch", "max_epoch", "steps_per_epoch",
      "callbacks", "default_callbacks", "monitors", "init",           "gates"};
  return all;
}

FieldType structure_of(std::vector<FieldInfo> sections) {
  const FieldType path = FieldType::text();
  sections.push_back({.name = "include",
                      .type = FieldType::either({path, FieldType::list_of(path)}, "paths"),
                      .default_value = ConfigNode::list({}),
                      .doc = "config files that this one extends; paths are relative to this file"});
  return FieldType::section(std::move(sections), "a config");
}

namespace {

Schema<ModelConfig> model_config_schema() {
  return with_model_sections(Schema<ModelConfig>("A model, its data, and how it is trained."));
}

}  // namespace

LoadedConfig load_model_config(const std::string& path, const std::vector<std::string>& overrides) {
  return load_config(path,
                     {.overrides = overrides, .structure = structure_of(model_config_schema().fields())});
}

LoadedConfig load_model_config_text(const std::string& text, const std::string& name,
                                    const std::vector<std::string>& overrides) {
  return load_config_text(
      text, name, {.overrides = overrides, .structure = structure_of(model_config_schema().fields())});
}

ModelConfig parse_model_config(const ConfigNode& root, const std::string& default_name, Diagnostics& errors) {
  ConfigNode sections = root;
  for (const std::string& name : sections_of_runs()) sections = sections.without(name);
  ModelConfig config = model_config_schema().parse(sections, "the config", errors);
  complete(config, default_name, errors);
  return config;
}

void complete(ModelConfig& config, const std::string& default_name, Diagnostics& errors) {
  check_is_map(config.vars, "vars", errors);
  apply_split(config, errors);
  if (config.name.empty()) config.name = default_name;
  config.engine.cache_dir = cache_folder();
  load_plugins(config.plugins, errors);
  if (!config.plugins.empty()) errors.throw_if_any();  // they may define the missing components
}

/// data.train first: the others use its learned values, unless `parts.fit` already has them.
void make_flows(const ModelConfig& config, ModelParts& parts, Diagnostics& errors) {
  const FlowMap& data = config.data;
  const auto make = [&](const std::string& name, const ConfigNode& node) {
    if (auto flow = make_flow(node, data, errors, parts.fit)) parts.flows.emplace(name, std::move(*flow));
  };
  const auto train = data.find("train");
  if (train != data.end()) make("train", train->second);
  const auto made = parts.flows.find("train");
  if (parts.fit == nullptr && made != parts.flows.end()) parts.fit = std::make_shared<Fit>(made->second);
  for (const auto& [name, node] : data)
    if (name != "train") make(name, node);
}

/// `optimizer` is short for one update without a name.
void make_updates(const ModelConfig& c, ModelParts& parts, Diagnostics& errors) {
  if (!c.optimizer.item.is_null() && !c.updates.empty()) {
    errors.add(parts.position_of("updates"), "'updates': 'optimizer' is also set (at " +
                                                 parts.position_of("optimizer").str() +
                                                 "); move it into an update");
  }
  const std::vector<std::string> costs = cost_names(c.model);
  if (!c.optimizer.item.is_null() && c.updates.empty() &&
      std::find(costs.begin(), costs.end(), kCost) == costs.end()) {
    errors.add(parts.position_of("optimizer"),
               "'optimizer' minimizes the cost named 'cost', but model.costs has " + join(costs, ", ") +
                   "; write updates: {" + costs[0] + ": {cost: " + costs[0] + ", optimizer: ...}}");
  }
  if (!c.optimizer.item.is_null())
    add_update({.position = parts.position_of("optimizer")}, c.optimizer, c, parts, errors);
  const std::vector<UpdateSchedule> schedules = update_schedules(c.updates);
  for (size_t i = 0; i < schedules.size(); ++i) {
    const UpdateSection& section = c.updates[i];
    check_cost(section, c.model, errors);
    add_update({.name = section.name,
                .cost = section.cost,
                .variables = section.variables.all,
                .schedule = schedules[i],
                .position = section.position},
               section.optimizer, c, parts, errors);
  }
}

std::unique_ptr<TowerFunction> make_tower(ModelConfig& config, const ConfigNode& root,
                                          const FlowLookup& flow_of, Diagnostics& errors) {
  const MapScope sections(root.without("model"));
  const MapScope vars(config.vars, &sections);
  const std::string fed_by = flow_that_feeds(config);
  if (leaves_inputs_to_data(config.model) && config.data.contains(fed_by)) {
    const DataFlow* flow = flow_of(fed_by);
    if (flow == nullptr) return nullptr;  // its own mistakes are enough
    try {
      config.model = with_inputs_of(config.model, *flow);
    } catch (const ConfigError& error) {
      errors.add(error, config.model.position());
      return nullptr;
    }
  }
  config.model = with_image_layouts(config.model, [&](const std::string& component) {
    return is_image_component(config, flow_of, component);
  });
  return make_model(config.model, vars, errors);
}

Position ModelParts::position_of(const std::string& key) const {
  const ConfigNode* node = source.root.find(key);
  return node == nullptr ? source.root.position() : node->position();
}

const DataFlow* ModelParts::train_flow() const {
  const auto train = flows.find("train");
  return train != flows.end() ? &train->second : nullptr;
}

std::vector<std::string> ModelParts::flow_names() const {
  std::vector<std::string> names;
  for (const auto& [name, made] : flows) names.push_back(name);
  return names;
}

const DataFlow& ModelParts::flow(const std::string& name, const Position& position) const {
  const auto found = flows.find(name);
  if (found != flows.end()) return found->second;
  throw unknown_reference("flow", name, position, flow_names());
}

}  // namespace tpack
