#include "predict/load_weights.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/pattern.h"
#include "core/schema.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kGroup = "model/";

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

std::string renamed(const std::string& name, const LoadRules& rules) {
  for (const auto& [pattern, replacement] : rules.rename) {
    if (const auto other = match_and_replace(name, pattern, replacement)) return *other;
    if (name.starts_with(pattern + "/")) return replacement + name.substr(pattern.size());
  }
  return name;
}

bool fits(const TensorSpec& here, const TensorSpec& there) {
  const bool types = here.dtype == there.dtype || (is_float(here.dtype) && is_float(there.dtype));
  return types && here.shape == there.shape;
}

std::string mismatch(const std::string& name, const TensorSpec& there, const TensorSpec& here) {
  return name + ": " + there.str() + " in the file, " + here.str() + " in the model";
}

std::string lines(const char* title, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += std::string("\n  ") + title + ": " + name;
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
};

Schema<RulesParams> rules_schema() {
  return Schema<RulesParams>("Rules for loading weights.")
      .field("include", &RulesParams::include,
             "variables to load: regular expressions for whole names, or names with everything below them")
      .field("exclude", &RulesParams::exclude, "variables not to load, in the same form")
      .field("rename", &RulesParams::rename,
             "map from a pattern in the file to a name in the model, where $1 is the first group of the "
             "expression");
}

}  // namespace

std::vector<FieldInfo> load_rules_fields() { return rules_schema().fields(); }

std::string LoadReport::str(const std::string& source) const {
  std::string text = source + ": " + std::to_string(loaded.size()) + " variables loaded";
  if (!left_out.empty()) text += ", " + std::to_string(left_out.size()) + " left out";
  return text + lines("missing in the file", missing) + lines("not in the model", extra) +
         lines("does not fit", mismatched);
}

LoadRules parse_load_rules(const ConfigNode& node, const std::string& owner, Diagnostics& errors) {
  const RulesParams p = rules_schema().parse(node, owner, errors);
  LoadRules rules;
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

LoadReport load_weights(VariableStore& store, const CheckpointContent& content, const LoadRules& rules) {
  LoadReport report;
  const std::vector<std::string> in_model = store.names(VariableScope::kModel);
  std::set<std::string> wanted(in_model.begin(), in_model.end());
  std::vector<std::string> names = in_model;
  std::vector<std::string> in_file;
  for (const auto& [path, value] : content.tensors) {
    if (!path.starts_with(kGroup)) continue;
    in_file.push_back(path.substr(std::string(kGroup).size()));
    const std::string name = renamed(in_file.back(), rules);
    names.push_back(name);
    const auto here = wanted.find(name);
    if (!wants(rules, name)) {
      report.left_out.push_back(name);
    } else if (here == wanted.end()) {
      report.extra.push_back(name);
    } else if (const TensorSpec own = store.spec(name); fits(own, value.spec())) {
      store.set(name, value.dtype() == own.dtype ? value : value.cast(own.dtype));
      report.loaded.push_back(name);
    } else {
      report.mismatched.push_back(mismatch(name, value.spec(), own));
    }
    if (here != wanted.end()) wanted.erase(here);
  }
  for (const std::string& name : in_model)
    if (wanted.contains(name) && wants(rules, name)) report.missing.push_back(name);
  report.idle = idle_rules(rules, in_file, names);
  return report;
}

void require_all_weights(const VariableTable& model, const CheckpointContent& content,
                         const std::string& source) {
  LoadReport report;
  for (const VariableSpec* variable : model.all()) {
    if (variable->scope != VariableScope::kModel) continue;
    const auto stored = content.tensors.find(kGroup + variable->name);
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
