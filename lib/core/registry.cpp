#include "core/registry.h"

#include <algorithm>
#include <map>

#include "core/other_words.h"
#include "core/text.h"

namespace tpack {

template <>
void PluginInterface<kPluginVersion>::needed() {}

namespace {

std::map<std::string, std::unique_ptr<ComponentTable>, std::less<>>& tables() {
  // Leaked on purpose: plugins and statics may use it while the process ends.
  static auto& all = *new std::map<std::string, std::unique_ptr<ComponentTable>, std::less<>>();
  return all;
}

bool has_name(const ComponentInfo& info, std::string_view name) {
  return info.name == name || std::find(info.aliases.begin(), info.aliases.end(), name) != info.aliases.end();
}

constexpr size_t kMaxWithSummary = 8;  // largest number of components whose summaries fit into a message

std::string without_stop(std::string summary) {
  if (summary.ends_with('.')) summary.pop_back();
  return summary;
}

std::string other_kinds_with(const std::string& kind, const std::string& name) {
  std::vector<std::string> kinds;
  for (const auto& [other, table] : tables()) {
    if (other != kind && other != "op" && table->find(name) != nullptr) kinds.push_back(other);
  }
  return kinds.empty() ? "" : "; '" + name + "' is a " + join(kinds, " and a ");
}

}  // namespace

std::vector<FieldInfo> ComponentInfo::common_fields() const {
  return common_schema == nullptr ? std::vector<FieldInfo>() : common_schema().fields();
}

ConfigNode ComponentInfo::effective(const ConfigNode& params, const std::string& owner,
                                    Diagnostics& errors) const {
  if (common_schema == nullptr) return schema().effective(params, owner, errors);
  const AnySchema common = common_schema();
  const SplitParams split = split_params(params, common.fields());
  ConfigNode all = schema().effective(split.own, owner, errors);
  const ConfigNode more = common.effective(split.common, owner, errors);
  for (const ConfigNode::Entry& entry : more.entries()) all = all.with(entry.key, entry.value);
  return all;
}

ConfigNode ComponentInfo::params_of(const ComponentItem& item) const {
  for (const Variant& variant : variants) {
    if (item.name != variant.name) continue;
    const ConfigNode value = ConfigNode::plain(variant.value, item.position);
    if (item.params.is_null()) return ConfigNode::map({{variant.field, value, item.position}}, item.position);
    if (item.params.is_map() && item.params.find(variant.field) == nullptr)
      return item.params.with(variant.field, value);
  }
  return item.params;
}

ComponentTable& ComponentTable::of(std::string_view kind) {
  auto& all = tables();
  auto found = all.find(kind);
  if (found == all.end()) {
    std::unique_ptr<ComponentTable> table(new ComponentTable(std::string(kind)));
    found = all.emplace(std::string(kind), std::move(table)).first;
  }
  return *found->second;
}

std::vector<std::string> ComponentTable::kinds() {
  std::vector<std::string> names;
  for (const auto& [kind, table] : tables()) names.push_back(kind);
  return names;
}

void ComponentTable::add(ComponentInfo info) noexcept {
  std::vector<std::string> names = info.aliases;
  names.push_back(info.name);
  for (const auto& known : components_) {
    for (const std::string& name : names) {
      if (!has_name(*known, name) || !duplicate_.empty()) continue;
      duplicate_ = kind_ + " '" + name + "' is registered twice: in " + known->file + " and in " + info.file;
    }
  }
  components_.push_back(std::make_unique<ComponentInfo>(std::move(info)));
}

void register_component(const char* kind, const char* name, std::initializer_list<Variant> aliases,
                        const char* file, AnySchema (*schema)(), AnySchema (*common_schema)(),
                        void (*factory)()) noexcept {
  ComponentInfo info{.kind = kind,
                     .name = name,
                     .file = file,
                     .schema = schema,
                     .common_schema = common_schema,
                     .factory = factory};
  for (const Variant& alias : aliases) {
    info.aliases.emplace_back(alias.name);
    if (alias.field != nullptr) info.variants.push_back(alias);
  }
  ComponentTable::of(kind).add(std::move(info));
}

void ComponentTable::check() const {
  if (!duplicate_.empty()) throw InternalError(duplicate_);
}

const ComponentInfo* ComponentTable::find(std::string_view name) const {
  check();
  for (const auto& info : components_) {
    if (has_name(*info, name)) return info.get();
  }
  return nullptr;
}

const ComponentInfo& ComponentTable::at(const std::string& name, const Position& where) const {
  if (const ComponentInfo* info = find(name)) return *info;
  const std::string advice = advice_on(kind_, name);
  if (!advice.empty()) throw ConfigError(where, "unknown " + kind_ + " '" + name + "'" + advice);
  std::vector<std::string> names;
  for (const auto& info : components_) {
    names.push_back(info->name);
    names.insert(names.end(), info->aliases.begin(), info->aliases.end());
  }
  const std::string elsewhere = other_kinds_with(kind_, name);
  if (!elsewhere.empty()) throw ConfigError(where, "unknown " + kind_ + " '" + name + "'" + elsewhere);
  std::sort(names.begin(), names.end());
  if (nearest(name, names)) throw unknown_reference(kind_, name, where, names);
  if (components_.size() > kMaxWithSummary) {
    const std::string word = kind_.find(' ') == std::string::npos ? kind_ : "'" + kind_ + "'";
    throw ConfigError(where, "unknown " + kind_ + " '" + name + "'; `tpack list " + word + "` lists all");
  }
  std::vector<std::string> lines;
  for (const ComponentInfo* info : list())
    lines.push_back(info->name + " (" + without_stop(info->summary()) + ")");
  throw ConfigError(where, "unknown " + kind_ + " '" + name + "'; known: " + join(lines, ", "));
}

std::vector<const ComponentInfo*> ComponentTable::list() const {
  check();
  std::vector<const ComponentInfo*> all;
  for (const auto& info : components_) all.push_back(info.get());
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return all;
}

SplitParams split_params(const ConfigNode& params, const std::vector<FieldInfo>& common) {
  SplitParams split{params, ConfigNode::map({}, params.position())};
  for (const FieldInfo& field : common) {
    const ConfigNode* value = params.find(field.name);
    if (value == nullptr) continue;
    split.common = split.common.with(field.name, *value);
    split.own = split.own.without(field.name);
  }
  return split;
}

ConfigNode effective_item(std::string_view kind, const ConfigNode& item) {
  Diagnostics errors;
  const ComponentItem parsed = component_item(item, kind);
  const ComponentInfo& info = ComponentTable::of(kind).at(parsed.name, parsed.position);
  ConfigNode params = info.effective(info.params_of(parsed), info.name, errors);
  if (!errors.ok()) return item;
  return ConfigNode::map({{info.name, std::move(params), parsed.position}}, item.position());
}

}  // namespace tpack
