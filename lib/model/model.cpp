#include "model/model.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "core/schema.h"
#include "core/substitute.h"
#include "core/text.h"
#include "model/cost.h"
#include "model/cost_statistic.h"
#include "model/layer_parser.h"
#include "model/network_builder.h"
#include "system/log.h"

namespace tpack {
namespace {

enum class ImageLayout : uint8_t { kNone, kHwc, kChw };

struct ModelInputParams {
  Shape shape;
  DType dtype = DType::kFloat32;
  ImageLayout layout = ImageLayout::kNone;
  bool batched = true;
};

}  // namespace

template <>
struct EnumNames<ImageLayout> {
  static constexpr std::array<std::pair<const char*, ImageLayout>, 3> kNames = {
      {{"none", ImageLayout::kNone}, {"HWC", ImageLayout::kHwc}, {"CHW", ImageLayout::kChw}}};
};

namespace {

Schema<ModelInputParams> input_schema() {
  return Schema<ModelInputParams>("An input of the model.")
      .field("shape", &ModelInputParams::shape,
             "shape of one sample; default: the shape of the component in the data")
      .field("dtype", &ModelInputParams::dtype, "element type")
      .field("layout", &ModelInputParams::layout,
             "order of an image's axes in the data: HWC or CHW; none: the three axes are not an image; "
             "default: as declared by the source")
      .field("batched", &ModelInputParams::batched, "false for data without a batch axis");
}

struct ModelParams {
  ConfigNode inputs;
  ConfigNode feed = ConfigNode::map({});
  ConfigNode defaults = ConfigNode::map({});
  ConfigNode blocks = ConfigNode::map({});
  ConfigNode networks = ConfigNode::map({});
  ConfigNode layers;
  ConfigNode cost = ConfigNode::list({});
  ConfigNode costs = ConfigNode::map({});
  ConfigNode metrics = ConfigNode::list({});
};

/// A network may consist of its list of layers only.
FieldType network_type() { return FieldType::section(network_fields(), "a network", "layers"); }

Schema<ModelParams> model_schema() {
  const FieldType layers = Codec<LayerListField>::type();
  const FieldType costs = FieldType::list_of(FieldType::component(Cost::kKind));
  return Schema<ModelParams>("The network, its cost and its metrics.")
      .field("inputs", &ModelParams::inputs,
             "inputs of the model, by name; default: all components of data.train")
      .type(FieldType::map_of(FieldType::section(input_schema().fields(), "an input"), "inputs by name"))
      .required()
      .field("feed", &ModelParams::feed, "component of the datapoint for an input with another name")
      .type(FieldType::map_of(FieldType::text(), "components by input"))
      .field("defaults", &ModelParams::defaults, "default parameters, by layer type")
      .type(FieldType::map_of(FieldType::any("parameters of a layer"), "parameters by layer type")
                .owning_names())
      .field("blocks", &ModelParams::blocks, "lists of layers with parameters, usable like layers")
      .type(FieldType::map_of(FieldType::section(block_fields(), "a block"), "blocks by name").owning_names())
      .field("networks", &ModelParams::networks,
             "lists of layers by name, which Call uses any number of times; or {inputs: [names], layers: "
             "[...]} for "
             "several inputs")
      .type(FieldType::map_of(network_type(), "networks by name").owning_names())
      .field("layers", &ModelParams::layers, "the layers, or a network written in C++")
      .type(FieldType::either({layers, FieldType::component(Model::kKind)}, "layers, or a network in C++")
                .owning_names())
      .required()
      .field("cost", &ModelParams::cost, "terms of the cost")
      .type(costs)
      .field("costs", &ModelParams::costs, "for several costs: lists of terms by name, instead of `cost`")
      .type(FieldType::map_of(costs, "costs by name"))
      .field("metrics", &ModelParams::metrics, "statistics to report")
      .type(FieldType::list_of(FieldType::component(Metric::kKind)));
}

template <class T>
struct Named {
  std::unique_ptr<T> object;
  std::string name;
  Position position;
};

/// Makes a list of costs or metrics; two of one type without names get running numbers.
template <class T>
std::vector<Named<T>> make_list(const ConfigNode& list, const Scope& scope, Diagnostics& errors) {
  std::vector<Named<T>> made;
  std::map<std::string, int> counts;
  if (!list.is_list()) {
    errors.add(list.position(), std::string("expected a list of ") + T::kKind + "s, found " +
                                    list.describe() + (list.is_map() ? kItemHint : ""));
    return made;
  }
  for (const ConfigNode& given : list.items()) {
    const ConfigNode item = substitute(given, scope, errors);
    auto object = Registry<T>::make(item, errors);
    if (!object) continue;
    const bool is_named = !object->name().empty();
    std::string name = is_named ? object->name() : snake_case(component_item(item, T::kKind).name);
    if (const int number = counts[name]++; number > 0 && !is_named) name += "_" + std::to_string(number);
    made.push_back({std::move(object), std::move(name), item.position()});
  }
  return made;
}

/// Runs one part of a model and keeps its errors, so that the errors of other parts are also found.
void keep_errors(Diagnostics& errors, const std::function<void()>& part) {
  try {
    part();
  } catch (const ConfigError& error) {
    errors.add(error, {});
  }
}

/// A cost that can be minimized, with its terms.
struct NamedCost {
  std::string name;
  std::vector<Named<Cost>> terms;
};

class ConfiguredModel final : public TowerFunction {
 public:
  ConfiguredModel(const ConfigNode& section, const Scope& scope, Diagnostics& errors) {
    const size_t before = errors.count();
    origin_ = section.position();
    const ModelParams p = model_schema().parse(section, "model", errors);
    if (errors.count() != before) return;
    read_inputs(p, scope, errors);
    read_layers(p, scope, errors);
    read_costs(p, scope, errors);
    metrics_ = make_list<Metric>(p.metrics, scope, errors);
  }

  const std::vector<TowerInput>& inputs() const override { return inputs_; }
  Position origin() const override { return origin_; }

  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    NetworkBuilder network(b);
    for (const auto& [name, symbol] : in) network.add_input(name, symbol);
    Diagnostics errors;
    keep_errors(errors, [&] { build_network(network, in); });
    const ModelView view(b, network);
    TowerResult result;
    const TowerInput& first = inputs_.front();
    const int64_t samples = first.batched ? in.at(first.name).shape()[0] : 1;
    add_costs(view, samples, result, errors);
    add_metrics(view, result, errors);
    reject_equal_statistics(result, errors);
    errors.throw_if_any();
    result.outputs = network.outputs();
    return result;
  }

 private:
  void read_inputs(const ModelParams& p, const Scope& scope, Diagnostics& errors) {
    if (!p.inputs.is_map() || p.inputs.size() == 0) {
      const std::string found = p.inputs.describe();
      return errors.add(p.inputs.position(), "'inputs' of model: expected inputs by name, found " + found);
    }
    for (const ConfigNode::Entry& entry : p.inputs.entries()) {
      const ConfigNode node = substitute(entry.value, scope, errors);
      if (node.is_map() && node.find("shape") == nullptr)
        errors.add(entry.key_position, "input " + entry.key + ": no 'shape', and no data.train that has it");
      const ModelInputParams input = input_schema().parse(node, "input " + entry.key, errors);
      const bool has_layout = node.is_map() && node.find("layout") != nullptr;
      if (!has_layout && input.batched && input.shape.rank() == 3) {
        errors.add(node.position(),
                   "input " + entry.key +
                       ": 'layout' is missing, and the data does not declare the order of its three "
                       "axes; write layout: HWC or CHW, or none if it is not an image");
      }
      std::string layout = input.layout == ImageLayout::kNone
                               ? ""
                               : EnumNames<ImageLayout>::kNames[static_cast<size_t>(input.layout)].first;
      if (!layout.empty() && input.shape.rank() != 3) {
        errors.add(node.position(), "input " + entry.key + ": layout " + layout +
                                        " needs a shape of 3 axes, not " + input.shape.str());
      }
      inputs_.push_back(
          {entry.key, entry.key, {input.dtype, input.shape}, input.batched, layout, entry.key_position});
    }
    read_feed(p.feed, errors);
  }

  void read_feed(const ConfigNode& feed, Diagnostics& errors) {
    std::vector<std::string> names;
    for (const TowerInput& input : inputs_) names.push_back(input.name);
    if (!check_is_map(feed, "'feed' of model", errors)) return;
    for (const ConfigNode::Entry& entry : feed.entries()) {
      const auto input = std::find_if(inputs_.begin(), inputs_.end(),
                                      [&](const TowerInput& i) { return i.name == entry.key; });
      if (input == inputs_.end()) {
        errors.add(unknown_reference("input", entry.key, entry.key_position, names), entry.key_position);
      } else if (!entry.value.is_string()) {
        errors.add(entry.value.position(),
                   "'feed' of model: expected the name of a component, found " + entry.value.describe());
      } else {
        input->component = entry.value.text();
      }
    }
  }

  /// Statistics are named after costs, so a cost has no slash in its name.
  void read_costs(const ModelParams& p, const Scope& scope, Diagnostics& errors) {
    if (!check_is_map(p.costs, "costs", errors)) return;
    const bool has_cost = p.cost.size() > 0 || (p.cost.is_scalar() && !p.cost.is_null());
    if (has_cost && p.costs.size() > 0) {
      errors.add(p.costs.position(), "'costs' of model: 'cost' is also set (at " + p.cost.position().str() +
                                         "); move its terms into 'costs', under a name");
    }
    if (p.costs.size() == 0) {
      costs_.push_back({kCost, make_list<Cost>(p.cost, scope, errors)});
      return;
    }
    for (const ConfigNode::Entry& entry : p.costs.entries()) {
      if (!is_model_name(entry.key)) {
        errors.add(entry.key_position,
                   "invalid cost name '" + entry.key + "'; use letters, digits, '_', '-' and '.'");
        continue;
      }
      if (entry.value.is_null() || (entry.value.is_list() && entry.value.size() == 0))
        errors.add(entry.key_position,
                   "cost " + entry.key + " has no terms; add at least one, or remove the cost");
      costs_.push_back({entry.key, make_list<Cost>(entry.value, scope, errors)});
    }
  }

  void read_layers(const ModelParams& p, const Scope& scope, Diagnostics& errors) {
    if (p.layers.is_map() && p.layers.size() > 0 &&
        Registry<Layer>::table().find(p.layers.entries()[0].key) != nullptr) {
      errors.add(p.layers.position(),
                 std::string("'layers' of model: expected a list of layers, found a map") + kItemHint);
      return;
    }
    if (!p.layers.is_list()) {
      network_ = Registry<Model>::make(substitute(p.layers, scope, errors), errors);
      return;
    }
    LayerParserSettings settings;
    settings.defaults = p.defaults;
    check_defaults(p.defaults, errors);
    if (!check_is_map(p.blocks, "'blocks' of model", errors)) return;
    for (const ConfigNode::Entry& entry : p.blocks.entries()) {
      if (!check_is_map(entry.value, "block " + entry.key, errors)) continue;
      const ConfigNode* list = entry.value.find("layers");
      if (list == nullptr) {
        errors.add(entry.key_position,
                   "block " + entry.key + ": 'layers' is missing (the layers of the block)");
      } else if (!list->is_list()) {
        errors.add(list->position(),
                   "block " + entry.key + ": expected a list of layers, found " + list->describe());
      }
      if (Registry<Layer>::table().find(entry.key) != nullptr)
        errors.add(entry.key_position, "block " + entry.key + " has the name of a layer; rename the block");
      check_keys(entry.value, block_fields(), "block " + entry.key, errors);
      settings.blocks[entry.key] = entry.value;
    }
    if (!check_is_map(p.networks, "networks", errors)) return;
    for (const ConfigNode::Entry& entry : p.networks.entries()) settings.networks[entry.key] = entry.value;
    LayerParser parser(settings, scope, errors);
    layers_ = parser.parse(p.layers);
    for (const ConfigNode::Entry& entry : p.networks.entries()) {
      if (!is_model_name(entry.key))
        errors.add(entry.key_position,
                   "invalid network name '" + entry.key + "'; use letters, digits, '_', '-' and '.'");
      if (!parser.is_called(entry.key))
        log::warning(entry.key_position.str() + ": network '" + entry.key +
                     "' is not called; call it with a layer `Call: " + entry.key + "`, or remove it");
      parser.network({entry.key, entry.key_position});  // its errors are reported anyway
    }
    reject_taken_names(p.networks, errors);
  }

  /// Outputs are found by name, and variables are below it, so explicit names are kept.
  void reject_taken_names(const ConfigNode& networks, Diagnostics& errors) const {
    for (const ParsedLayer& layer : layers_) {
      const auto same = [&](const TowerInput& input) { return input.name == layer.name; };
      if (std::any_of(inputs_.begin(), inputs_.end(), same))
        errors.add(layer.position,
                   "layer name '" + layer.name + "' is the name of an input; rename the layer");
      if (networks.find(layer.name) != nullptr)
        errors.add(layer.position,
                   "layer name '" + layer.name + "' is the name of a network; rename the layer");
    }
  }

  void build_network(NetworkBuilder& network, const std::map<std::string, Symbol>& in) const {
    if (network_) {
      for (const auto& [name, symbol] : network_->build(network.builder(), in))
        network.add_output(name, symbol);
    } else {
      network.build(layers_, in.at(inputs_.front().name));
    }
  }

  /// The owner of a statistic, for messages.
  static std::string source_of(const Statistic& statistic) {
    if (statistic.cost.empty()) return "a metric";
    return (statistic.cost == statistic.name ? "cost '" : "a term of cost '") + statistic.cost + "'";
  }

  /// They are columns of one table. Metrics and terms are named after their types.
  void reject_equal_statistics(const TowerResult& result, Diagnostics& errors) const {
    std::map<std::string, const Statistic*> first;
    for (const Statistic& statistic : result.statistics) {
      const std::string& name = statistic.name;
      if (name == "epoch_num" || name == "global_step")
        errors.add(origin_,
                   "a cost or metric cannot be named '" + name + "': that column is taken; rename it");
      const auto [at, is_new] = first.emplace(name, &statistic);
      if (is_new) continue;
      const bool has_name = statistic.cost == name || at->second->cost == name;
      errors.add(origin_, "statistic '" + name + "' is reported by " + source_of(*at->second) + " and by " +
                              source_of(statistic) + "; " +
                              (has_name ? "rename cost '" + name + "'" : "give one of them another `name`"));
    }
  }

  void add_metrics(const ModelView& view, TowerResult& result, Diagnostics& errors) const {
    for (const Named<Metric>& m : metrics_) {
      keep_errors(errors, [&] {
        const SumAndWeight f = m.object->build(view);
        result.statistics.push_back(
            {m.name, f.sum, f.weight, "", f.accumulation, m.object->goal(), m.object->form()});
      });
    }
  }

  void add_costs(const ModelView& view, int64_t samples, TowerResult& result, Diagnostics& errors) const {
    for (const NamedCost& cost : costs_) add_cost(cost, view, samples, result, errors);
  }

  static void add_cost(const NamedCost& cost, const ModelView& view, int64_t samples, TowerResult& result,
                       Diagnostics& errors) {
    Builder& b = view.builder();
    std::vector<Statistic> statistics;
    Symbol total;
    std::vector<CostTerm> of_task;  // the cost's statistic in training and inference
    std::vector<CostTerm> all;
    for (const Named<Cost>& term : cost.terms) {
      if (!b.training() && !term.object->in_inference()) continue;
      keep_errors(errors, [&] {
        const std::string name = cost.name == kCost ? term.name : cost.name + "_" + term.name;
        const CostTerm& made = all.emplace_back(term.object->build(view, name));
        total = total ? b.add(total, made.value) : made.value;
        if (term.object->in_inference()) of_task.push_back(made);
        statistics.push_back(cost_statistic(b, {&made, 1}, samples, name, cost.name));
        if (b.training()) return;
        if (auto target = term.object->target(view)) {
          target->term = name;
          result.targets.push_back(std::move(*target));
        }
      });
    }
    if (!total) return;
    result.costs[cost.name] = total;
    if (const Symbol share = counted_share(b, of_task)) result.counted[cost.name] = share;
    result.statistics.push_back(
        cost_statistic(b, of_task.empty() ? all : of_task, samples, cost.name, cost.name));
    if (cost.terms.size() > 1)
      result.statistics.insert(result.statistics.end(), statistics.begin(), statistics.end());
  }

  Position origin_;
  std::vector<TowerInput> inputs_;
  ParsedList layers_;
  std::unique_ptr<Model> network_;
  std::vector<NamedCost> costs_;
  std::vector<Named<Metric>> metrics_;
};

}  // namespace

std::unique_ptr<TowerFunction> make_model(const ConfigNode& section, const Scope& scope,
                                          Diagnostics& errors) {
  const size_t before = errors.count();
  auto model = std::make_unique<ConfiguredModel>(section, scope, errors);
  return errors.count() == before ? std::move(model) : nullptr;
}

bool is_model_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

std::vector<std::string> cost_names(const ConfigNode& section) {
  const ConfigNode* costs = section.is_map() ? section.find("costs") : nullptr;
  if (costs == nullptr || !costs->is_map() || costs->size() == 0) return {kCost};
  std::vector<std::string> names;
  for (const ConfigNode::Entry& entry : costs->entries()) names.push_back(entry.key);
  return names;
}

std::vector<FieldInfo> model_fields() { return model_schema().fields(); }

namespace {

/// Items of a list of costs or metrics with every default; expressions are unchanged.
template <class T>
ConfigNode effective_list(const ConfigNode& list) {
  std::vector<ConfigNode> items;
  for (const ConfigNode& item : list.items()) items.push_back(effective_item(T::kKind, item));
  return ConfigNode::list(std::move(items), list.position());
}

/// A layer's item with the values of `defaults` and all other defaults. Blocks, layers whose parameters
/// depend on those of a block, and lists inside a layer are unchanged.
ConfigNode effective_layer(const ConfigNode& item, const ConfigNode& defaults) {
  const ComponentItem parsed = component_item(item, Layer::kKind);
  const ComponentInfo* info = Registry<Layer>::table().find(parsed.name);
  const bool plain = parsed.params.is_map() || parsed.params.is_null();
  const ConfigNode* outer = defaults.find(parsed.name);
  ConfigNode params = plain && outer != nullptr ? *outer : ConfigNode::map({});
  for (const ConfigNode::Entry& entry :
       parsed.params.is_map() ? parsed.params.entries() : std::span<const ConfigNode::Entry>()) {
    params = params.with(entry.key, entry.value);
  }
  if (info == nullptr || !plain || params.holds_expression()) return item;
  std::vector<ConfigNode::Entry> entries;
  for (const char* reserved : {"name", "input"}) {
    if (const ConfigNode* value = params.find(reserved)) entries.push_back({reserved, *value});
    params = params.without(reserved);
  }
  Diagnostics errors;
  const ConfigNode all = info->effective(params, parsed.name, errors);
  if (!errors.ok()) return item;
  entries.insert(entries.end(), all.entries().begin(), all.entries().end());
  return ConfigNode::map({{parsed.name, ConfigNode::map(std::move(entries)), parsed.position}});
}

ConfigNode effective_layers(const ConfigNode& layers, const ConfigNode& defaults) {
  if (!layers.is_list()) return layers.holds_expression() ? layers : effective_item(Model::kKind, layers);
  std::vector<ConfigNode> items;
  for (const ConfigNode& item : layers.items()) items.push_back(effective_layer(item, defaults));
  return ConfigNode::list(std::move(items), layers.position());
}

ConfigNode effective_inputs(const ConfigNode& inputs) {
  std::vector<ConfigNode::Entry> entries;
  Diagnostics ignored;
  for (const ConfigNode::Entry& entry : inputs.entries()) {
    const size_t before = ignored.count();
    const ModelInputParams input = input_schema().parse(entry.value, entry.key, ignored);
    const bool good = ignored.count() == before;
    entries.push_back({entry.key, good ? input_schema().dump(input) : entry.value, entry.key_position});
  }
  return ConfigNode::map(std::move(entries), inputs.position());
}

}  // namespace

ConfigNode effective_model(const ConfigNode& section) {
  Diagnostics ignored;
  const auto schema = model_schema();
  ModelParams p = schema.parse(section, "model", ignored);
  p.inputs = effective_inputs(p.inputs);
  p.layers = effective_layers(p.layers, p.defaults);
  for (const ConfigNode::Entry& entry :
       std::vector(p.networks.entries().begin(), p.networks.entries().end())) {
    const ConfigNode* layers = entry.value.is_map() ? entry.value.find("layers") : &entry.value;
    const ConfigNode effective = effective_layers(*layers, p.defaults);
    p.networks =
        p.networks.with(entry.key, entry.value.is_map() ? entry.value.with("layers", effective) : effective);
  }
  p.cost = effective_list<Cost>(p.cost);
  for (const ConfigNode::Entry& entry : std::vector(p.costs.entries().begin(), p.costs.entries().end()))
    p.costs = p.costs.with(entry.key, effective_list<Cost>(entry.value));
  p.metrics = effective_list<Metric>(p.metrics);
  return schema.dump(p);
}

}  // namespace tpack
