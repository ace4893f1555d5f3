#include "graph/variables.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/pattern.h"
#include "core/text.h"

namespace tpack {

const VariableSpec& VariableTable::declare(VariableSpec spec) {
  const auto found = by_name_.find(spec.name);
  if (found == by_name_.end()) {
    if (closed_) {
      throw ShapeError("variable " + spec.name +
                       " did not exist when the model was first built; a model must have the same variables "
                       "each time, for any sizes of its inputs");
    }
    order_.push_back(spec.name);
    std::string name = spec.name;
    return by_name_.emplace(std::move(name), std::move(spec)).first->second;
  }
  const VariableSpec& known = found->second;
  if (!(known.spec == spec.spec) || known.scope != spec.scope || known.trainable != spec.trainable) {
    throw ShapeError("variable " + spec.name + " is " + known.spec.str() + ", but is used again as " +
                     spec.spec.str());
  }
  return known;
}

const VariableSpec* VariableTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

std::vector<const VariableSpec*> VariableTable::all() const {
  std::vector<const VariableSpec*> list;
  for (const std::string& name : order_) list.push_back(&by_name_.at(name));
  return list;
}

std::vector<const VariableSpec*> VariableTable::trainable() const {
  std::vector<const VariableSpec*> list;
  for (const VariableSpec* spec : all()) {
    if (spec->trainable) list.push_back(spec);
  }
  return list;
}

std::vector<std::string> VariableTable::hyper_parameters() const {
  std::vector<std::string> names;
  for (const VariableSpec* spec : all()) {
    if (spec->hyper_parameter) names.push_back(spec->name);
  }
  return names;
}

std::map<std::string, std::shared_ptr<const Schedule>> VariableTable::schedules() const {
  std::map<std::string, std::shared_ptr<const Schedule>> found;
  for (const VariableSpec* spec : all()) {
    if (spec->schedule) found[spec->name] = spec->schedule;
  }
  return found;
}

void VariableTable::set_groups(std::vector<ParameterGroup> groups) {
  std::set<std::string> grouped;
  for (const ParameterGroup& group : groups) {
    for (const std::string& name : group.variables) {
      const VariableSpec* spec = find(name);
      TPACK_ASSERT(spec != nullptr && spec->trainable, "no trainable variable '" + name + "'");
      TPACK_ASSERT(grouped.insert(name).second, "variable '" + name + "' is in two groups");
    }
  }
  groups_ = std::move(groups);
}

std::vector<ParameterGroup> VariableTable::groups() const {
  if (groups_) return *groups_;
  ParameterGroup all;
  for (const VariableSpec* spec : trainable()) all.variables.push_back(spec->name);
  if (all.variables.empty()) return {};
  return {all};
}

std::string FlatBlock::name() const { return "@" + of + (group.empty() ? "" : ":" + group); }
std::string FlatBlock::part(const std::string& variable) const { return "@" + of + "/" + variable; }

std::optional<FlatBlock> FlatBlock::parse(const std::string& name) {
  if (!name.starts_with('@') || name.find('/') != std::string::npos) return std::nullopt;
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return FlatBlock{name.substr(1), ""};
  return FlatBlock{name.substr(1, colon - 1), name.substr(colon + 1)};
}

std::string gradient_name(const std::string& variable) { return FlatBlock{kGradient, ""}.part(variable); }

FlatLayout flat_layout(const VariableTable& table, const ParameterGroup& group) {
  constexpr int64_t kAlignment = 16;  // elements; 64 bytes of float
  FlatLayout layout;
  for (const std::string& name : group.variables) {
    const Shape& shape = table.find(name)->spec.shape;
    layout.entries.push_back({name, shape, layout.size});
    layout.size += (shape.elements() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return layout;
}

bool is_for_variable(const std::string& pattern, const std::string& name) {
  return name.starts_with(pattern + "/") || full_match(name, pattern);
}

std::string no_match(const std::string& what, const std::string& pattern,
                     const std::vector<std::string>& known) {
  std::set<std::string> candidates;
  std::set<std::string> outermost;
  for (const std::string& name : known) {
    outermost.insert(name.substr(0, name.find('/')));
    for (std::string above = name; !above.empty();) {
      candidates.insert(above);
      const size_t slash = above.rfind('/');
      above.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  const std::string text = "no " + what + " matches '" + pattern + "' or is below it";
  // An expression is for the whole name, so `.*/b` is not for everything in a layer b.
  const std::string deeper = pattern + "/.*";
  const auto is_deeper = [&](const std::string& name) { return full_match(name, deeper); };
  if (std::ranges::any_of(known, is_deeper)) return text + "; did you mean '" + deeper + "'?";
  const std::string suggestion = did_you_mean(pattern, std::vector(candidates.begin(), candidates.end()));
  if (!suggestion.empty() || known.empty()) return text + suggestion;
  return text + "; known: " + join(std::vector(outermost.begin(), outermost.end()), ", ");
}

std::vector<std::string> saved_names(const VariableTable& table, VariableScope scope) {
  std::map<std::string, std::vector<std::string>> groups;
  for (ParameterGroup& group : table.groups()) groups[group.name] = std::move(group.variables);
  std::vector<std::string> names;
  for (const VariableSpec* spec : table.all()) {
    if (spec->scope != scope) continue;
    const auto block = FlatBlock::parse(spec->name);
    if (!block) {
      names.push_back(spec->name);
      continue;
    }
    for (const std::string& variable : groups.at(block->group)) names.push_back(block->part(variable));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tpack
