#include "predict/load_weights.h"

#include <algorithm>
#include <map>
#include <set>

#include "checkpoint/layout.h"
#include "core/pattern.h"
#include "core/schema.h"
#include "core/text.h"

namespace tpack {
namespace {

bool any_matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return is_for_variable(pattern, name); });
}

bool wants(const LoadRules& rules, const std::string& name) {
  return any_matches(rules.include, name) && !any_matches(rules.exclude, name);
}

/// The rules without a matching name: names of the file for rename, of the model for the others.
std::vector<std::string> idle_rules(const LoadRules& rules, const std::vector<std::string>& in_file,
                                    const std::vector<std::string>& in_model) {
  std::vector<std::string> idle;
  const auto check = [&](const char* key, const std::string& pattern, const std::vector<std::string>& names) {
    const bool used = std::any_of(names.begin(), names.end(),
                                  [&](const std::string& name) { return is_for_variable(pattern, name); });
    if (!used) idle.push_back(std::string(key) + ": " + no_match("variable", pattern, names));
  };
  for (const std::string& pattern : rules.include) check("include", pattern, in_model);
  for (const std::string& pattern : rules.exclude) check("exclude", pattern, in_model);
  for (const auto& [pattern, replacement] : rules.rename) check("rename", pattern, in_file);
  return idle;
}

bool is_integer(DType type) { return type == DType::kInt32 || type == DType::kInt64; }

bool fits(const TensorSpec& here, const TensorSpec& there) {
  const bool types = here.dtype == there.dtype || (is_float(here.dtype) && is_float(there.dtype)) ||
                     (is_integer(here.dtype) && is_integer(there.dtype));
  return types && here.shape == there.shape;
}

std::string mismatch(const std::string& name, const TensorSpec& there, const TensorSpec& here) {
  return name + ": " + there.str() + " in the file, " + here.str() + " in the model";
}

std::string title_of(const LoadableWeight& weight) {
  return weight.from.empty() ? weight.names[0] : weight.from;
}

std::string source_of(const LoadableWeight& weight) {
  return weight.from.empty() ? "" : " (" + weight.from + ")";
}

/// A line for each of the first names.
std::string lines(const char* title, const std::vector<std::string>& names) {
  constexpr size_t kMostLines = 20;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostLines; ++i)
    text += std::string("\n  ") + title + ": " + names[i];
  if (names.size() > kMostLines)
    text += std::string("\n  ") + title + ": " + std::to_string(names.size() - kMostLines) + " more";
  return text;
}

std::vector<std::string> parse_patterns(const ConfigNode& node, const std::string& what,
                                        Diagnostics& errors) {
  Reader reader(what, {}, errors);
  const auto patterns = Codec<std::vector<std::string>>::parse(node, reader);
  return patterns.value_or(std::vector<std::string>{});
}

void check_pattern(const std::string& pattern, const Position& where, Diagnostics& errors) {
  try {
    full_match("", pattern);
  } catch (const ConfigError& error) {
    errors.add(error, where);
  }
}

struct RulesParams {
  ConfigNode include = ConfigNode::list({".*"});
  ConfigNode exclude = ConfigNode::list({});
  ConfigNode rename = ConfigNode::map({});
  OnMismatch on_mismatch = OnMismatch::kError;
};

Schema<RulesParams> rules_schema() {
  return Schema<RulesParams>("Rules for loading weights.")
      .field("include", &RulesParams::include,
             "variables to load: regular expressions for whole names, or names with everything below them")
      .field("exclude", &RulesParams::exclude, "variables not to load, in the same form")
      .field("rename", &RulesParams::rename,
             "map from a pattern in the file to a name in the model, where $1 is the first group of the "
             "expression")
      .field("on_mismatch", &RulesParams::on_mismatch,
             "a variable of another shape than in the file is an error, or keeps its initial value");
}

}  // namespace

std::string renamed_by(const std::vector<std::pair<std::string, std::string>>& rules,
                       const std::string& name) {
  for (const auto& [pattern, replacement] : rules) {
    if (const auto other = match_and_replace(name, pattern, replacement)) return *other;
    if (name.starts_with(pattern + "/")) return replacement + name.substr(pattern.size());
  }
  return name;
}

std::vector<FieldInfo> load_rules_fields() { return rules_schema().fields(); }

std::string LoadReport::str(const std::string& source) const {
  std::string text = source + ": " + std::to_string(loaded.size()) + " variables loaded";
  if (!left_out.empty()) text += ", " + std::to_string(left_out.size()) + " left out";
  return text + lines("missing in the file", missing) + lines("not in the model", extra) +
         lines("does not fit", mismatched);
}

LoadRules parse_load_rules(const ConfigNode& node, const std::string& owner, Diagnostics& errors) {
  const RulesParams p = rules_schema().parse(node, owner, errors);
  LoadRules rules{.on_mismatch = p.on_mismatch};
  rules.include = parse_patterns(p.include, "'include' of " + owner, errors);
  rules.exclude = parse_patterns(p.exclude, "'exclude' of " + owner, errors);
  for (const std::string& pattern : rules.include) check_pattern(pattern, p.include.position(), errors);
  for (const std::string& pattern : rules.exclude) check_pattern(pattern, p.exclude.position(), errors);
  if (!p.rename.is_map())
    errors.add(p.rename.position(),
               "'rename' of " + owner + ": expected a map of names, found " + p.rename.describe());
  for (const ConfigNode::Entry& entry : p.rename.entries()) {
    check_pattern(entry.key, entry.key_position, errors);
    if (!entry.value.is_string()) {
      errors.add(entry.value.position(), "'rename' of " + owner + ": expected a name for '" + entry.key +
                                             "', found " + entry.value.describe());
      continue;
    }
    rules.rename.emplace_back(entry.key, entry.value.text());
  }
  return rules;
}

std::vector<LoadableWeight> loadable_weights(const CheckpointContent& content) {
  std::vector<LoadableWeight> weights;
  for (const auto& [path, value] : content.tensors) {
    if (!path.starts_with(layout::kModel)) continue;
    weights.push_back({.names = {path.substr(layout::kModel.size())},
                       .spec = [tensor = &value](const VariableSpec&) { return tensor->spec(); },
                       .read = [tensor = &value](const VariableSpec&) { return *tensor; }});
  }
  return weights;
}

LoadReport load_weights(VariableStore& store, const std::vector<LoadableWeight>& weights,
                        const LoadRules& rules) {
  LoadReport report;
  const std::vector<std::string> in_model = store.names(VariableScope::kModel);
  std::map<std::string, const LoadableWeight*> taken;  // by the variable's name
  std::vector<std::string> names = in_model;
  std::vector<std::string> in_file;
  const std::set<std::string> known(in_model.begin(), in_model.end());
  for (const LoadableWeight& weight : weights) {
    in_file.insert(in_file.end(), weight.names.begin(), weight.names.end());
    std::string name = renamed_by(rules.rename, weight.names[0]);
    for (const std::string& other : weight.names) {
      if (known.contains(name)) break;
      if (std::string now = renamed_by(rules.rename, other); known.contains(now)) name = std::move(now);
    }
    names.push_back(name);
    if (!wants(rules, name)) {
      report.left_out.push_back(name);
    } else if (!known.contains(name)) {
      report.extra.push_back(name + source_of(weight));
    } else if (!taken.emplace(name, &weight).second) {
      throw ConfigError("'" + title_of(*taken.at(name)) + "' and '" + title_of(weight) +
                        "' of the file are both for the variable '" + name + "'");
    }
  }
  for (const std::string& name : in_model) {
    const auto found = taken.find(name);
    if (found == taken.end()) {
      if (wants(rules, name)) report.missing.push_back(name);
      continue;
    }
    const VariableSpec& variable = *store.table().find(name);
    const TensorSpec there = found->second->spec(variable);
    if (!fits(variable.spec, there)) {
      report.mismatched.push_back(mismatch(name, there, variable.spec) + source_of(*found->second));
      continue;
    }
    const Tensor value = found->second->read(variable);
    const Tensor own = value.dtype() == variable.spec.dtype ? value : value.cast(variable.spec.dtype);
    if (is_integer(own.dtype()) && !bit_equal(own.cast(value.dtype()), value))
      throw DataError(title_of(*found->second), "has numbers that do not fit into " +
                                                    std::string(name_of(own.dtype())) + " of '" + name + "'");
    store.set(name, own);
    report.loaded.push_back(name);
  }
  report.idle = idle_rules(rules, in_file, names);
  return report;
}

void require_all_weights(const VariableTable& model, const CheckpointContent& content,
                         const std::string& source) {
  LoadReport report;
  for (const VariableSpec* variable : model.all()) {
    if (variable->scope != VariableScope::kModel) continue;
    const auto stored = content.tensors.find(layout::kModel + variable->name);
    if (stored == content.tensors.end())
      report.missing.push_back(variable->name);
    else if (!fits(variable->spec, stored->second.spec()))
      report.mismatched.push_back(mismatch(variable->name, stored->second.spec(), variable->spec));
  }
  if (report.missing.empty() && report.mismatched.empty()) return;
  throw CheckpointError(source, "does not fit the model" + lines("missing in the file", report.missing) +
                                    lines("does not fit", report.mismatched));
}

void load_all_weights(VariableStore& store, const CheckpointContent& content, const std::string& source) {
  require_all_weights(store.table(), content, source);
  load_weights(store, content);
}

}  // namespace tpack
