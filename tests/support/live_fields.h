#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/device.h"
#include "config/yaml_reader.h"
#include "core/registry.h"
#include "core/text.h"
#include "graph/builder.h"

/// Proves that every field of a component does something: it is changed, and what is built must differ.
namespace tpack::live {

/// How the fields of one component are changed, where the fields alone do not say it.
struct Component {
  std::string base = "{}";                         // what its required fields need, as YAML
  std::map<std::string, std::string> values = {};  // a field: another value of it, as YAML
  std::string left_out = {};                       // why none is changed here
};
using Components = std::map<std::string, Component>;  // by name

/// What an item of a config (`Name: {...}`) makes, as text.
using Build = std::function<std::string(const std::string& item_yaml)>;

/// All values that a field may take, where they can be listed.
inline std::vector<std::string> choices_of(const FieldInfo& field) {
  return field.type.choices.empty() ? field.check.choices : field.type.choices;
}

/// Some values that the field's type suggests, as YAML.
inline std::vector<std::string> values_of(const FieldInfo& field) {
  using Base = FieldType::Base;
  if (!choices_of(field).empty()) return choices_of(field);
  if (field.type.base == Base::kBool) return {"true", "false"};
  if (field.type.base == Base::kNumber) return {"0.3", "0.6", "3.5"};
  if (field.type.base == Base::kInteger || field.type.of.starts_with("an integer"))
    return {"1", "2", "3", "5"};
  if (field.type.of == "layer") return {"Tanh"};
  if (field.type.of == "initializer") return {"{Constant: {value: 0.7}}"};
  return {};
}

/// Changes the fields of one component.
class Probe {
 public:
  Probe(const ComponentInfo& info, const Component& component, const Build& build)
      : info_(info), component_(component), build_(build), base_(parse_yaml(component.base, "base.yaml")) {}

  /// Whether values make a difference: two at least, of a choice each from all others.
  bool is_live(const FieldInfo& field) const {
    const auto given = component_.values.find(field.name);
    const bool is_given = given != component_.values.end();
    std::set<std::string> results = {build_(item(base_))};
    for (const std::string& value : is_given ? std::vector{given->second} : values_of(field)) {
      const ConfigNode changed = base_.with(field.name, parse_yaml(value, "value.yaml"));
      Diagnostics errors;
      info_.effective(changed, info_.name, errors);
      if (errors.ok()) results.insert(result_of(changed));  // else: out of range
    }
    return results.size() >= std::max(is_given ? 0 : choices_of(field).size(), size_t{2});
  }

 private:
  std::string item(const ConfigNode& params) const { return "{" + info_.name + ": " + to_json(params) + "}"; }
  /// A value that does not fit its neighbours makes a difference too.
  std::string result_of(const ConfigNode& params) const {
    try {
      return build_(item(params));
    } catch (const ConfigError& error) {
      return std::string("error: ") + error.what();
    }
  }

  const ComponentInfo& info_;
  const Component& component_;
  const Build& build_;
  ConfigNode base_;
};

/// "Name.field" of every field of the kind's components that changes nothing.
inline std::vector<std::string> dead_fields(const ComponentTable& table, const Components& components,
                                            const Build& build) {
  static const Component kPlain;
  std::vector<std::string> dead;
  for (const ComponentInfo* info : table.list()) {
    const auto found = components.find(info->name);
    if (found != components.end() && !found->second.left_out.empty()) continue;
    const Probe probe(*info, found == components.end() ? kPlain : found->second, build);
    for (const FieldInfo& field : info->fields()) {
      if (!probe.is_live(field)) dead.push_back(info->name + "." + field.name);
    }
  }
  return dead;
}

/// The text of a graph that `emit` builds in double, and the variables that it declares, with their first
/// values.
inline std::string graph_text(const std::function<void(Builder&)>& emit, Phase phase = Phase::kTraining) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {.phase = phase, .float_type = DType::kFloat64});
  emit(b);
  const auto device = make_reference_device("reference", {.float_type = DType::kFloat64});
  device->create_variables(table);
  device->variables().initialize(1);
  std::string text = graph.str();
  for (const VariableSpec* variable : table.all()) {
    text +=
        "variable " + variable->name + " " + variable->spec.str() + (variable->trainable ? " trainable" : "");
    const Tensor value = device->variables().tensor(variable->name);
    for (int64_t i = 0; i < value.elements(); ++i) text += " " + shortest(value.at(i));
    text += "\n";
  }
  return text;
}

}  // namespace tpack::live
