#include "model/layer_parser.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <utility>

#include "core/other_words.h"
#include "core/substitute.h"
#include "core/text.h"
#include "model/network_builder.h"

namespace tpack {
namespace {

constexpr int kMaxDepth = 32;
constexpr int64_t kMaxLayers = 100'000;
constexpr size_t kMaxNameLength = 256;  // bytes: the limit of a checkpoint

/// Takes the reserved fields `name` and `input` out of a layer's parameters.
struct Reserved {
  std::string name;
  std::vector<Ref<LayerOutput>> inputs;
  ConfigNode rest;
};

/// A name may have letters of any language; '/' separates scopes, '@' begins gradients and slots.
bool is_layer_name(const std::string& name) {
  const auto is_good = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 || c == '_' || c == '-' || c == '.';
  };
  if (name.size() > kMaxNameLength) return false;
  return name.empty() || (std::all_of(name.begin(), name.end(), is_good) && name[0] != '-' && name[0] != '.');
}

Reserved take_reserved(const ComponentItem& item, Diagnostics& errors) {
  Reserved out{{}, {}, item.params};
  const std::string owner = "layer " + item.name;
  if (const ConfigNode* name = item.params.find("name")) {
    Reader reader("'name' of " + owner, {}, errors);
    out.name = Codec<std::string>::parse(*name, reader).value_or("");
    if (!is_layer_name(out.name)) {
      errors.add(name->position(),
                 "'name' of " + owner + " is " + to_json(*name) +
                     "; use letters, digits, '_', '-' and '.'; a name must not start with '-' or "
                     "'.' and has at most 256 bytes");
    }
    out.rest = out.rest.without("name");
  }
  if (const ConfigNode* input = item.params.find("input")) {
    Reader reader("'input' of " + owner, {}, errors);
    if (input->is_list()) {
      out.inputs = Codec<std::vector<Ref<LayerOutput>>>::parse(*input, reader)
                       .value_or(std::vector<Ref<LayerOutput>>{});
    } else if (auto one = Codec<Ref<LayerOutput>>::parse(*input, reader)) {
      out.inputs = {*one};
    }
    out.rest = out.rest.without("input");
  }
  return out;
}

/// `under`, overwritten with every key of `over`.
ConfigNode merged(const ConfigNode& under, const ConfigNode& over) {
  ConfigNode out = under;
  for (const ConfigNode::Entry& entry : over.entries()) out = out.with(entry.key, entry.value);
  return out;
}

/// A call of a block: its lists are read again with the parameters of this call.
class BlockCall final : public Layer {
 public:
  BlockCall(ConfigNode list, std::map<std::string, ConfigNode> names, BlockUse use)
      : list_(std::move(list)), names_(std::move(names)), use_(std::move(use)) {}
  void parse_nested(LayerParser& parser) override { body_ = parser.parse_block(list_, names_, use_); }
  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    return network.build_block(body_, in[0], use_);
  }

 private:
  ConfigNode list_;
  std::map<std::string, ConfigNode> names_;
  BlockUse use_;
  ParsedList body_;
};

bool is_layer_list(const std::vector<FieldInfo>& fields, const std::string& key) {
  return std::any_of(fields.begin(), fields.end(), [&](const FieldInfo& field) {
    return field.name == key && field.type.is_list_of_components(Layer::kKind);
  });
}

/// Layers as a parameter of a block, which has no type.
bool is_list_of_maps(const ConfigNode& node) {
  const auto items = node.items();
  return node.is_list() && std::any_of(items.begin(), items.end(), std::mem_fn(&ConfigNode::is_map));
}

/// Layers as arguments of a block keep their expressions, which are read inside the block: a name that is
/// also one of its parameters would have a different meaning there.
void reject_captures(const std::string& block, const ConfigNode& given,
                     const std::vector<FieldInfo>& parameters, Diagnostics& errors) {
  for (const ConfigNode::Entry& entry : given.entries()) {
    std::set<std::string> names;
    collect_names(entry.value, names);
    for (const FieldInfo& parameter : parameters) {
      if (!names.contains(parameter.name)) continue;
      errors.add(entry.value.position(), "$(" + parameter.name + ") in '" + entry.key + "' of block " +
                                             block + " is ambiguous: the block also has a parameter '" +
                                             parameter.name + "'; write $(vars." + parameter.name +
                                             ") for the value of the config, or rename one");
    }
  }
}

/// The parameters of a block from its definition, with the values of a call. Defaults may depend on earlier
/// parameters.
std::map<std::string, ConfigNode> block_parameters(const ConfigNode& block, const ComponentItem& call,
                                                   const ConfigNode& given, const Scope& outer,
                                                   Diagnostics& errors) {
  std::vector<ConfigNode::Entry> values;
  std::vector<FieldInfo> known;
  const ConfigNode* parameters = block.find("parameters");
  for (const auto& entry :
       parameters != nullptr ? parameters->entries() : std::span<const ConfigNode::Entry>()) {
    const ConfigNode* written = given.find(entry.key);
    const MapScope before(ConfigNode::map(values), &outer);
    const ConfigNode value = written != nullptr ? *written : substitute(entry.value, before, errors);
    if (value.is_null())
      errors.add(call.position, "block " + call.name + ": parameter '" + entry.key + "' is missing");
    values.push_back({entry.key, value});
    known.push_back({.name = entry.key});
  }
  check_keys(given, known, "block " + call.name, errors);
  reject_captures(call.name, given, known, errors);
  std::map<std::string, ConfigNode> by_name;
  for (const ConfigNode::Entry& entry : values) by_name[entry.key] = entry.value;
  return by_name;
}

}  // namespace

LayerParser::LayerParser(const LayerParserSettings& settings, const Scope& scope, Diagnostics& errors)
    : model_(std::make_shared<Model>(Model{settings, scope, errors})),
      scope_(&scope),
      errors_(&errors),
      defaults_(settings.defaults) {}

void LayerParser::give_up(const Position& where, const char* why) const {
  if (!model_->gave_up) errors_->add(where, why);
  model_->gave_up = true;
}

ParsedList LayerParser::parse(const ConfigNode& list) {
  ParsedList layers;
  if (depth_ == kMaxDepth)
    give_up(list.position(), "layer lists are nested more than 32 deep; a block must not contain itself");
  model_->layers += 1 + static_cast<int64_t>(list.items().size());
  if (model_->layers > kMaxLayers)
    give_up(list.position(),
            "the model has more than 100,000 layers; use fewer blocks or smaller counts of Repeat");
  if (model_->gave_up) return layers;
  ++depth_;
  std::map<std::string, int> counts;
  std::map<std::string, Position> names;
  for (const ConfigNode& item : list.items()) {
    auto layer = parse_item(item, counts);
    if (!layer) continue;
    const auto [first, fresh] = names.emplace(layer->name, layer->position);
    if (!fresh) {
      errors_->add(layer->position, "duplicate layer name '" + layer->name + "'; first used at " +
                                        first->second.str() + "; rename one of the two");
    }
    layers.push_back(std::move(*layer));
  }
  --depth_;
  return layers;
}

ParsedList LayerParser::parse_with(const ConfigNode& list, const std::map<std::string, ConfigNode>& names) {
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [name, value] : names) entries.push_back({name, value});
  const MapScope scope(ConfigNode::map(std::move(entries)), scope_);
  LayerParser inner = *this;
  inner.scope_ = &scope;
  return inner.parse(list);
}

ParsedList LayerParser::parse_block(const ConfigNode& list, const std::map<std::string, ConfigNode>& names,
                                    const BlockUse& use) {
  Diagnostics inside;
  LayerParser inner = *this;
  inner.errors_ = &inside;
  ParsedList parsed = inner.parse_with(list, names);
  try {
    inside.throw_if_any();
  } catch (const ConfigError& error) {
    model_->notes.add(error, {use}, {}, *errors_);
  }
  return parsed;
}

std::shared_ptr<const Network> LayerParser::network(const Ref<NetworkName>& ref) {
  auto& networks = model_->networks;
  const auto known = networks.find(ref.name);
  if (known != networks.end() && known->second) return known->second;
  if (known != networks.end()) throw ConfigError(ref.position, "network '" + ref.name + "' calls itself");
  const LayerParserSettings& settings = model_->settings;
  const auto definition = settings.networks.find(ref.name);
  if (definition == settings.networks.end()) {
    std::vector<std::string> names;
    for (const auto& [name, node] : settings.networks) names.push_back(name);
    throw unknown_reference("network", ref.name, ref.position, names);
  }
  networks[ref.name] = nullptr;
  LayerParser of_model = *this;
  of_model.scope_ = &model_->scope;
  of_model.errors_ = &model_->errors;
  of_model.defaults_ = settings.defaults;
  return networks[ref.name] = of_model.parse_network(ref.name, definition->second);
}

void LayerParser::check_inputs(const Network& network, const ConfigNode& definition) {
  const Position& where = definition.is_map() && definition.find("inputs") != nullptr
                              ? definition.find("inputs")->position()
                              : definition.position();
  const std::string owner = "'inputs' of network " + network.name;
  if (network.inputs.empty())
    errors_->add(where, owner + ": expected at least one name, found an empty list");
  std::set<std::string> seen;
  for (const std::string& input : network.inputs) {
    if (input.empty() || !is_layer_name(input))
      errors_->add(where, owner + ": invalid name '" + input + "'; use letters, digits, '_', '-' and '.'");
    if (!seen.insert(input).second) errors_->add(where, owner + ": duplicate name '" + input + "'");
  }
}

/// Reports errors; the result has everything that is valid.
std::shared_ptr<const Network> LayerParser::parse_network(const std::string& name,
                                                          const ConfigNode& definition) {
  auto network = std::make_shared<Network>();
  network->name = name;
  network->inputs = {"input"};
  const ConfigNode* layers = definition.is_list() ? &definition : definition.find("layers");
  if (layers == nullptr || !layers->is_list()) {
    errors_->add(definition.position(), "network " + name +
                                            ": expected a list of layers, or {inputs: [...], layers: "
                                            "[...]}, found " +
                                            definition.describe());
    return network;
  }
  if (definition.is_map()) {
    check_keys(definition, network_fields(), "network " + name, *errors_);
    if (const ConfigNode* inputs = definition.find("inputs")) {
      Reader reader("'inputs' of network " + name, {}, *errors_);
      network->inputs = Codec<std::vector<std::string>>::parse(*inputs, reader).value_or(network->inputs);
    }
  }
  check_inputs(*network, definition);
  network->layers = parse(*layers);
  for (const ParsedLayer& layer : network->layers) {
    if (std::find(network->inputs.begin(), network->inputs.end(), layer.name) == network->inputs.end())
      continue;
    errors_->add(layer.position, "layer name '" + layer.name + "' is the name of an input of network " +
                                     name + "; rename the layer");
  }
  return network;
}

std::vector<FieldInfo> block_fields() {
  const FieldType values = FieldType::map_of(FieldType::any("any value"), "values by name");
  return {{.name = "parameters",
           .type = values,
           .default_value = ConfigNode::map({}),
           .doc = "names for expressions in its layers, with their default values"},
          {.name = "layers", .type = Codec<LayerListField>::type(), .required = true, .doc = "its layers"}};
}

std::vector<FieldInfo> network_fields() {
  return {{.name = "inputs",
           .type = FieldType::list_of(FieldType::text()),
           .default_value = ConfigNode::list({"input"}),
           .doc = "names of its inputs"},
          {.name = "layers", .type = Codec<LayerListField>::type(), .required = true, .doc = "its layers"}};
}

std::vector<FieldInfo> common_layer_fields() {
  const FieldType output = Codec<Ref<LayerOutput>>::type();
  return {{.name = "name",
           .type = FieldType::text(),
           .doc = "name of the layer's output, and prefix of its variables; default: the type in snake_case "
                  "and a number, such as conv2d_0"},
          {.name = "input",
           .type = FieldType::either({output, FieldType::list_of(output)}, "a layer or input, or a list"),
           .doc = "input of the layer; default: the output of the layer before it"}};
}

void check_defaults(const ConfigNode& defaults, Diagnostics& errors) {
  if (!check_is_map(defaults, "defaults", errors) || defaults.is_null()) return;
  std::vector<std::string> known;
  for (const ComponentInfo* info : Registry<Layer>::table().list()) known.push_back(info->name);
  for (const ConfigNode::Entry& entry : defaults.entries()) {
    const ComponentInfo* info = Registry<Layer>::table().find(entry.key);
    if (info == nullptr) {
      errors.add(unknown_reference("layer", entry.key, entry.key_position, known), entry.key_position);
    } else if (check_is_map(entry.value, "defaults of " + entry.key, errors) && entry.value.is_map()) {
      check_keys(entry.value, info->fields(), "layer " + entry.key, errors);
    }
  }
}

ParsedList LayerParser::parse_with_defaults(const ConfigNode& list, const ConfigNode& defaults) {
  check_defaults(defaults, *errors_);
  LayerParser inner = *this;
  for (const ConfigNode::Entry& entry : defaults.entries()) {
    const ConfigNode* known = defaults_.find(entry.key);
    inner.defaults_ =
        inner.defaults_.with(entry.key, known != nullptr ? merged(*known, entry.value) : entry.value);
  }
  return inner.parse(list);
}

std::optional<ParsedLayer> LayerParser::parse_item(const ConfigNode& node,
                                                   std::map<std::string, int>& counts) {
  try {
    ComponentItem item = component_item(node, "layer");
    // Nested lists keep their expressions: their own parse knows more names.
    const ConfigNode own = substitute_own(item);
    item.params = own;
    Reserved reserved = take_reserved(item, *errors_);
    ParsedLayer parsed;
    parsed.position = item.position;
    parsed.inputs = std::move(reserved.inputs);
    parsed.layer = make(item, reserved.rest);
    parsed.name = reserved.name;
    if (parsed.name.empty()) {
      const std::string kind = snake_case(item.name);
      parsed.name = kind + "_" + std::to_string(counts[kind]++);
    }
    if (!parsed.layer) return std::nullopt;
    parsed.layer->parse_nested(*this);
    return parsed;
  } catch (const ConfigError& error) {
    errors_->add(error, node.position());
    return std::nullopt;
  }
}

ConfigNode LayerParser::substitute_own(const ComponentItem& item) const {
  const ConfigNode& params = item.params;
  const ComponentInfo* info = Registry<Layer>::table().find(item.name);
  const std::vector<FieldInfo> fields = info != nullptr ? info->fields() : std::vector<FieldInfo>{};
  ConfigNode out = params;
  for (const ConfigNode::Entry& entry : params.entries()) {
    // A list is read with its own names; an expression for a list is evaluated here.
    const bool nested = info != nullptr ? is_layer_list(fields, entry.key) && entry.value.is_list()
                                        : is_list_of_maps(entry.value);
    if (!nested) out = out.with(entry.key, substitute(entry.value, *scope_, *errors_));
  }
  return params.is_map() ? out : substitute(params, *scope_, *errors_);
}

std::unique_ptr<Layer> LayerParser::make(const ComponentItem& item, const ConfigNode& params) {
  const auto block = model_->settings.blocks.find(item.name);
  if (block != model_->settings.blocks.end()) {
    const ConfigNode* list = block->second.find("layers");
    if (list == nullptr) return nullptr;  // reported when the blocks are read
    const size_t before = errors_->count();
    auto values = block_parameters(block->second, item, params, *scope_, *errors_);
    return errors_->count() == before
               ? std::make_unique<BlockCall>(*list, std::move(values),
                                             BlockUse{"block " + item.name, item.position})
               : nullptr;
  }
  std::vector<std::string> names;
  for (const ComponentInfo* info : Registry<Layer>::table().list()) names.push_back(info->name);
  for (const auto& [name, definition] : model_->settings.blocks) names.push_back(name);
  if (Registry<Layer>::table().find(item.name) == nullptr && advice_on(Layer::kKind, item.name).empty() &&
      nearest(item.name, names)) {
    throw unknown_reference("layer", item.name, item.position, names);
  }
  return Registry<Layer>::make({item.name, with_defaults({item.name, params, item.position}), item.position},
                               *errors_);
}

ConfigNode LayerParser::with_defaults(const ComponentItem& item) const {
  const ConfigNode* defaults = defaults_.find(item.name);
  if (defaults == nullptr || (!item.params.is_map() && !item.params.is_null())) return item.params;
  ConfigNode own = substitute(*defaults, *scope_, *errors_);
  if (item.params.is_map()) own = merged(own, item.params);
  return own.at_position(item.params.position());
}

}  // namespace tpack
