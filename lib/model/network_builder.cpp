#include "model/network_builder.h"

#include <algorithm>
#include <utility>

namespace tpack {

void NetworkBuilder::add_output(const std::string& name, Symbol value) { outputs_[full_name(name)] = value; }

void NetworkBuilder::add_value(const std::string& name, Symbol value) {
  const std::string path = builder_.path() + "." + name;
  if (!outputs_.emplace(path, value).second)
    throw ConfigError(builder_.origin(), "an output of layer " + builder_.path() +
                                             " and another layer are both named '" + path +
                                             "'; rename one of them");
  values_.insert(path);
}

std::string NetworkBuilder::full_name(const std::string& name) const {
  return builder_.path().empty() ? name : builder_.path() + "/" + name;
}

Symbol NetworkBuilder::build(const ParsedList& list, Symbol x) {
  ++depth_;
  const ParsedLayer* in_parts = nullptr;  // the layer before, if it only has named outputs
  for (const ParsedLayer& layer : list) {
    try {
      if (in_parts != nullptr && layer.inputs.empty())
        throw ConfigError(layer.position, "layer " + layer.name + " needs an 'input': the outputs of layer " +
                                              in_parts->name + " before it are " + values_of(*in_parts));
      x = build_layer(layer, x);
      in_parts = layer.layer->has_main_value() ? nullptr : &layer;
      if (values_.contains(full_name(layer.name)))
        throw ConfigError(layer.position,
                          "layer name '" + layer.name +
                              "' is also the name of an output of another layer; rename one of them");
      if (in_parts == nullptr) add_output(layer.name, x);
    } catch (const ConfigError& error) {
      notes_.add(error, uses_, layer.position, errors_);
      failed_.insert(full_name(layer.name));
      x = {};
      in_parts = nullptr;
    }
  }
  --depth_;
  if (in_parts != nullptr && depth_ > 0) {
    errors_.add(in_parts->position, "layer " + in_parts->name +
                                        " is the last one inside another layer, and its outputs are " +
                                        values_of(*in_parts) + "; add a layer that uses them");
    x = {};
  }
  if (depth_ == 0) errors_.throw_if_any();
  if (in_parts != nullptr && depth_ == 0) return {};
  if (!x) throw AlreadyReported();
  return x;
}

Symbol NetworkBuilder::build_block(const ParsedList& list, Symbol x, const BlockUse& use) {
  uses_.push_back(use);
  try {
    x = build(list, x);
  } catch (...) {
    uses_.pop_back();
    throw;
  }
  uses_.pop_back();
  return x;
}

Symbol NetworkBuilder::call(const Network& network, std::span<const Symbol> in, const Position& position) {
  if (in.size() != network.inputs.size()) {
    throw ConfigError(position, "network " + network.name + " takes " +
                                    std::to_string(network.inputs.size()) +
                                    (network.inputs.size() == 1 ? " input (" : " inputs (") +
                                    join(network.inputs, ", ") + "), found " + std::to_string(in.size()));
  }
  const Builder::VariablesBelow variables(builder_, network.name);
  const std::string outer = std::exchange(base_, builder_.path());
  for (size_t i = 0; i < in.size(); ++i) network_inputs_[full_name(network.inputs[i])] = in[i];
  try {
    const Symbol out = build_block(network.layers, in[0], {"network " + network.name, position});
    base_ = outer;
    return out;
  } catch (...) {
    base_ = outer;
    throw;
  }
}

/// `before` is null after a layer that failed.
Symbol NetworkBuilder::build_layer(const ParsedLayer& layer, Symbol before) {
  std::vector<Symbol> in;
  for (const Ref<LayerOutput>& ref : layer.inputs) in.push_back(output(ref));
  if (in.empty() && !before) throw AlreadyReported();
  if (in.empty()) in.push_back(before);
  const Builder::NameScope scope(builder_, layer.name, layer.position);
  const Symbol out = layer.layer->build_nested(*this, in);
  if (!out) throw ConfigError(layer.position, "layer " + layer.name + " has no output");
  return out;
}

/// "halves.0, halves.1".
std::string NetworkBuilder::values_of(const ParsedLayer& layer) const {
  const std::string before = full_name(layer.name) + ".";
  std::vector<std::string> names;
  for (auto it = outputs_.lower_bound(before); it != outputs_.end() && it->first.starts_with(before); ++it)
    names.push_back(layer.name + it->first.substr(before.size() - 1));
  return join(names, ", ");
}

/// The layer with this path, or the one that contains it or has it as an output.
bool NetworkBuilder::failed(std::string path) const {
  if (const size_t point = path.rfind('.');
      point != std::string::npos && failed_.contains(path.substr(0, point)))
    return true;
  while (!failed_.contains(path)) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return false;
    path.resize(slash);
  }
  return true;
}

/// Empty if there is none.
Symbol NetworkBuilder::find(const std::string& path) const {
  const auto input = network_inputs_.find(path);
  if (input != network_inputs_.end()) return input->second;
  const auto output = outputs_.find(path);
  return output != outputs_.end() ? output->second : Symbol();
}

Symbol NetworkBuilder::output(const Ref<LayerOutput>& ref) const {
  std::string scope = builder_.path();
  while (true) {
    const std::string path = scope.empty() ? ref.name : scope + "/" + ref.name;
    if (const Symbol found = find(path)) return found;
    if (failed(path)) throw AlreadyReported();
    if (scope == base_) break;
    const size_t slash = scope.rfind('/');
    scope = slash == std::string::npos ? "" : scope.substr(0, slash);
  }
  std::vector<std::string> known;
  const std::string inside = base_.empty() ? "" : base_ + "/";
  const auto add = [&](const std::string& path) {
    if (path.starts_with(inside)) known.push_back(path.substr(inside.size()));
  };
  for (const auto& [name, symbol] : outputs_) add(name);
  for (const auto& [name, symbol] : network_inputs_) add(name);
  for (const std::string& name : failed_) add(name);
  std::sort(known.begin(), known.end());
  throw unknown_reference(LayerOutput::kWhat, ref.name, ref.position, known);
}

}  // namespace tpack
