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
/// differ. tests/experiment/component_docs_test.cpp has the list of the tests that do this, one for each kind
/// of component.
namespace tpack::live {

/// How to change the fields of one component, if their types are not enough to tell.
struct Component {
  std::string base = "{}";                           // the required fields, as YAML
  std::map<std::string, std::string> values = {};    // field -> another value of it, as YAML
  std::map<std::string, std::string> left_out = {};  // field -> why it is not changed here
};
using Components = std::map<std::string, Component>;  // by name

/// Builds an item of a config (`Name: {...}`) and describes the result as text. The same item must give the
/// same text.
using Build = std::function<std::string(const std::string& item_yaml)>;

/// Some values for a field of this type, as YAML.
inline std::vector<std::string> values_of(const FieldInfo& field) {
  using Base = FieldType::Base;
  if (!field.type.choices.empty()) return field.type.choices;
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

  /// Why the unchanged item cannot be built; "" if it can.
  std::string base_error() const {
    const std::string result = result_of(base_);
    if (!result.starts_with(kError)) return "";
    return info_.name + " cannot be built from " + to_json(base_) +
           ", the `base` in this test's table: " + result.substr(std::string_view(kError).size());
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
    return given != component_.values.end() ? std::vector{given->second} : values_of(field);
  }

 private:
  static constexpr const char* kError = "error: ";

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
  const Build& build_;
  ConfigNode base_;
};

/// Entries of the table for components and fields that do not exist.
inline std::vector<std::string> idle_entries(const ComponentTable& table, const Components& components) {
  std::vector<std::string> idle;
  for (const auto& [name, component] : components) {
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
inline std::vector<std::string> dead_fields(const ComponentTable& table, const Components& components,
                                            const Build& build) {
  static const Component kPlain;
  std::vector<std::string> dead = idle_entries(table, components);
  for (const ComponentInfo* info : table.list()) {
    const auto found = components.find(info->name);
    const Component& component = found == components.end() ? kPlain : found->second;
    const Probe probe(*info, component, build);
    std::vector<FieldInfo> fields = info->fields();
    std::erase_if(fields, [&](const FieldInfo& field) { return component.left_out.contains(field.name); });
    if (fields.empty()) continue;
    if (const std::string error = probe.base_error(); !error.empty()) {
      dead.push_back(error);
      continue;
    }
    for (const FieldInfo& field : fields) {
      if (!probe.is_live(field))
        dead.push_back(info->name + "." + field.name + " changes nothing (tried " +
                       join(probe.tried(field), ", ") + " on " + component.base + ")");
    }
    if (!probe.repeats()) dead.push_back(info->name + " is not the same when it is built again");
  }
  return dead;
}

}  // namespace tpack::live
