#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/registry.h"
#include "core/text.h"

/// Tests that every field of a component has an effect: each field is changed in turn, and the result must
/// differ. tests/reports/component_docs_test.cpp has the list of the tests that do this, one for each kind
/// of component.
///
/// The example in the schema of a component is built first. Then each field gets its default and a few values
/// of its type. If that is not enough, a live::Fields object next to the component's own test gives others.
namespace tpack::live {

/// Builds an item of a config (`Name: {...}`) and describes the result as text. The same item must give the
/// same text.
using Build = std::function<std::string(const std::string& item_yaml)>;

/// How to change the fields of one component, if its example and their types are not enough to tell.
struct Component {
  std::string base = {};                           // the parameters to change, as YAML; empty: the example's
  std::map<std::string, std::string> values = {};  // field -> another value of it, as YAML
  std::map<std::string, std::string> left_out = {};  // field -> why it is not changed here
  Build build = nullptr;                             // empty: the one of its kind
};
using Components = std::map<std::string, Component>;  // by name

/// The entries of a kind.
inline Components& entries_of(const std::string& kind) {
  static std::map<std::string, Components> all;
  return all[kind];
}

/// Adds an entry: an object at namespace scope in the test of the component.
class Fields {
 public:
  Fields(const std::string& kind, const std::string& name, Component component) {
    entries_of(kind)[name] = std::move(component);
  }
};

/// Where the components of a kind are built.
struct Scene {
  Build build;
  // What references may name, and keys of maps: "flow": {"test"}.
  std::map<std::string, std::vector<std::string>> names = {};
};

/// Some components of a kind.
inline std::vector<std::string> components_of(const std::string& kind) {
  if (kind == "layer") return {"Tanh"};
  if (kind == "initializer") return {"{Constant: {value: 0.7}}"};
  std::vector<std::string> some;
  for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
    if (some.size() < 2)
      some.push_back("{" + (info->fields().empty() ? info->name + ": {}" : info->example()) + "}");
  }
  return some;
}

/// Some values of a type, as YAML.
inline std::vector<std::string> values_of(const FieldType& type, const Scene& scene) {
  using Base = FieldType::Base;
  std::vector<std::string> values;
  switch (type.base) {
    case Base::kBool:
      return {"true", "false"};
    case Base::kNumber:
      return {"0.3", "0.6", "3.5"};
    case Base::kInteger:
      return {"1", "2", "3", "5"};
    case Base::kChoice:
      return type.choices;
    case Base::kComponent:
      return components_of(type.of);
    case Base::kReference:
    case Base::kPattern:
      return scene.names.contains(type.of) ? scene.names.at(type.of) : values;
    case Base::kList:
      for (const std::string& value : values_of(*type.element, scene)) values.push_back("[" + value + "]");
      return values;
    case Base::kMap:
      for (const std::string& name : scene.names.contains(type.of) ? scene.names.at(type.of) : values) {
        for (const std::string& value : values_of(*type.element, scene))
          values.push_back("{" + name + ": " + value + "}");
      }
      return values;
    case Base::kEither:
      for (const FieldType& way : *type.alternatives) {
        for (const std::string& value : values_of(way, scene)) values.push_back(value);
      }
      return values;
    case Base::kSection:  // each field alone
      for (const FieldInfo& field : *type.fields) {
        for (const std::string& value : values_of(field.type, scene))
          values.push_back("{" + field.name + ": " + value + "}");
      }
      return values;
    default:
      return values;
  }
}

/// Changes the fields of one component.
class Probe {
 public:
  Probe(const ComponentInfo& info, const Component& component, const Scene& scene)
      : info_(info),
        component_(component),
        scene_(scene),
        build_(component.build ? component.build : scene.build),
        base_(base_of(info, component)) {}

  /// Why the unchanged item cannot be built; "" if it can.
  std::string base_error() const {
    const std::string result = result_of(base_);
    if (!result.starts_with(kError)) return "";
    return info_.name + " cannot be built from " + to_json(base_) + ": " +
           result.substr(std::string_view(kError).size()) +
           "; give it a `base` in a live::Fields next to its test, or change the example in its schema";
  }

  /// Whether two builds of the same item give the same text; if not, all fields would seem to have an effect.
  bool repeats() const { return result_of(base_) == result_of(base_); }

  /// Whether changing the field changes the result: some value must. If the field is a choice, each of its
  /// values must give a different result.
  bool is_live(const FieldInfo& field) const {
    const bool is_given = component_.values.contains(field.name);
    std::set<std::string> results = {result_of(base_)};
    for (const std::string& value : tried(field)) {
      const ConfigNode changed = base_.with(field.name, parse_yaml(value, "value.yaml"));
      Diagnostics errors;
      info_.effective(changed, info_.name, errors);
      if (errors.ok()) results.insert(result_of(changed));  // else: out of range
    }
    return results.size() >= std::max(is_given ? 0 : field.type.choices.size(), size_t{2});
  }

  /// The values that the field is changed to, as YAML.
  std::vector<std::string> tried(const FieldInfo& field) const {
    const auto given = component_.values.find(field.name);
    if (given != component_.values.end()) return {given->second};
    std::vector<std::string> values = values_of(field.type, scene_);
    if (!field.required) values.push_back(to_json(field.default_value));
    return values;
  }

  /// "Name.field changes nothing ...", with what to do.
  std::string dead(const FieldInfo& field) const {
    return info_.name + "." + field.name + " changes nothing (tried " + join(tried(field), ", ") + " on " +
           to_json(base_) + "); if it is read, set it in the example of its schema, or give `values` in a " +
           "live::Fields next to its test";
  }

 private:
  static constexpr const char* kError = "error: ";

  static ConfigNode base_of(const ComponentInfo& info, const Component& component) {
    if (!component.base.empty()) return parse_yaml(component.base, "base.yaml");
    if (info.example().empty()) return ConfigNode::map({});
    const ConfigNode params = component_item(parse_yaml(info.example(), "example.yaml"), info.kind).params;
    if (params.is_map()) return params;
    Diagnostics errors;
    return info.effective(params, info.name, errors);  // the value of one field alone
  }

  std::string item(const ConfigNode& params) const { return "{" + info_.name + ": " + to_json(params) + "}"; }
  /// An error counts as a result too: a value that does not fit the other fields has an effect.
  std::string result_of(const ConfigNode& params) const {
    try {
      return build_(item(params));
    } catch (const ConfigError& error) {
      return kError + std::string(error.what());
    }
  }

  const ComponentInfo& info_;
  const Component& component_;
  const Scene& scene_;
  const Build& build_;
  ConfigNode base_;
};

/// Entries for components and fields that do not exist.
inline std::vector<std::string> idle_entries(const ComponentTable& table) {
  std::vector<std::string> idle;
  for (const auto& [name, component] : entries_of(table.kind())) {
    std::set<std::string> unknown;
    for (const auto& [field, value] : component.values) unknown.insert(field);
    for (const auto& [field, reason] : component.left_out) unknown.insert(field);
    const ComponentInfo* info = table.find(name);
    if (info == nullptr) idle.push_back(name + " is not registered");
    for (const FieldInfo& field : info == nullptr ? std::vector<FieldInfo>{} : info->fields())
      unknown.erase(field.name);
    for (const std::string& field : unknown) idle.push_back(name + " has no field " + field);
  }
  return idle;
}

/// Every field of the kind's components that has no effect, with the values that were tried; also anything
/// that prevents finding this out.
inline std::vector<std::string> dead_fields(const ComponentTable& table, const Scene& scene) {
  static const Component kPlain;
  const Components& entries = entries_of(table.kind());
  std::vector<std::string> dead = idle_entries(table);
  for (const ComponentInfo* info : table.list()) {
    const auto found = entries.find(info->name);
    const Component& component = found == entries.end() ? kPlain : found->second;
    const Probe probe(*info, component, scene);
    std::vector<FieldInfo> fields = info->fields();
    std::erase_if(fields, [&](const FieldInfo& field) { return component.left_out.contains(field.name); });
    if (fields.empty()) continue;
    if (const std::string error = probe.base_error(); !error.empty()) {
      dead.push_back(error);
      continue;
    }
    for (const FieldInfo& field : fields) {
      if (!probe.is_live(field)) dead.push_back(probe.dead(field));
    }
    if (!probe.repeats()) dead.push_back(info->name + " is not the same when it is built again");
  }
  return dead;
}

}  // namespace tpack::live
