#include "core/schema.h"

#include <algorithm>
#include <cctype>
#include <memory>

#include "core/other_words.h"
#include "core/text.h"

namespace tpack {

namespace {

/// "; write 'file: a.csv'" for the key `file:a.csv`, which lacks a space.
std::string space_after_colon(const std::string& key, const std::vector<std::string>& names) {
  const size_t colon = key.find(':');
  const std::string name = key.substr(0, colon);
  if (colon == std::string::npos || std::find(names.begin(), names.end(), name) == names.end()) return "";
  return "; write '" + name + ": " + key.substr(colon + 1) + "', with a space after the colon";
}

/// For the key 002 of `learning_rate: 0,002`.
std::string decimal_point(const std::string& key) {
  const bool are_digits =
      !key.empty() && std::ranges::all_of(key, [](unsigned char c) { return std::isdigit(c) != 0; });
  return are_digits ? "; write decimal numbers with a point, 0.5" : "";
}

}  // namespace

void check_keys(const ConfigNode& node, const std::vector<FieldInfo>& fields, const std::string& owner,
                Diagnostics& errors) {
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.push_back(field.name);
  for (const ConfigNode::Entry& entry : node.entries()) {
    if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
    std::string text = "unknown key '" + entry.key + "' in " + owner;
    std::string suggestion = space_after_colon(entry.key, names);
    if (suggestion.empty()) suggestion = decimal_point(entry.key);
    if (suggestion.empty()) suggestion = advice_on(owner, entry.key);
    if (suggestion.empty()) suggestion = did_you_mean(entry.key, names);
    if (suggestion.empty()) suggestion = names.empty() ? "; it has no keys" : "; known: " + join(names, ", ");
    errors.add(entry.key_position, text + suggestion);
  }
}

bool check_is_map(const ConfigNode& node, const std::string& owner, Diagnostics& errors,
                  const std::string& main_field) {
  if (node.is_map() || node.is_null()) return true;
  errors.add(node.position(),
             owner + ": expected a map of parameters {key: value}, found " + node.describe() +
                 (main_field.empty()
                      ? ""
                      : "; write {" + main_field + ": " + (node.is_scalar() ? node.text() : "VALUE") + "}"));
  return false;
}

ConfigNode AnySchema::effective(const ConfigNode& given, const std::string& owner,
                                Diagnostics& errors) const {
  const std::unique_ptr<void, void (*)(void*)> params(params_.make(), params_.free);
  parse_into(params.get(), given, owner, errors);
  return dump_from(params.get());
}

void AnySchema::add_field(const char* name, const ValueType& type, const void* params, const void* value,
                          Check check, const char* doc) {
  infos_.push_back({name, type.type(), check, type.dump(value), false, doc});
  members_.push_back({&type, static_cast<const char*>(value) - static_cast<const char*>(params)});
}

void AnySchema::take_fields(const AnySchema& base, ptrdiff_t offset) {
  example_ = base.example_;
  infos_ = base.infos_;
  members_ = base.members_;
  for (Member& member : members_) member.offset += offset;
  shorthand_ = base.shorthand_;
}

void AnySchema::set_shorthand() {
  shorthand_ = infos_.size();
  last().shorthand = true;
}

void AnySchema::parse_into(void* params, const ConfigNode& given, const std::string& owner,
                           Diagnostics& errors) const {
  const ConfigNode node = expanded(given);
  if (!check_is_map(node, owner, errors, main_field())) return;
  check_keys(node, infos_, owner, errors);
  for (size_t i = 0; i < infos_.size(); ++i) {
    const FieldInfo& info = infos_[i];
    const ConfigNode* value = node.find(info.name);
    const FieldType::Base base = info.type.base;
    const bool is_name = base == FieldType::Base::kReference || base == FieldType::Base::kPattern ||
                         base == FieldType::Base::kComponent;
    const bool names_nothing = value != nullptr && value->is_null() && is_name;
    if (value != nullptr && !(info.required && names_nothing)) {
      Reader reader("'" + info.name + "' of " + owner, info.check, errors);
      members_[i].type->parse(static_cast<char*>(params) + members_[i].offset, *value, reader);
    } else if (info.required) {
      errors.add(given.position(), owner + ": '" + info.name + "' is missing (" + info.doc + ")");
    }
  }
}

ConfigNode AnySchema::dump_from(const void* params) const {
  std::vector<ConfigNode::Entry> entries;
  for (size_t i = 0; i < infos_.size(); ++i) {
    const void* value = static_cast<const char*>(params) + members_[i].offset;
    entries.push_back({infos_[i].name, members_[i].type->dump(value)});
  }
  return ConfigNode::map(std::move(entries));
}

ConfigNode AnySchema::expanded(const ConfigNode& given) const {
  if (shorthand_ == 0 || given.is_null()) return given;
  const FieldInfo& field = infos_[shorthand_ - 1];
  if (given.is_map()) {
    const bool takes_maps = infos_.size() == 1 && field.type.base == FieldType::Base::kMap;
    const ConfigNode* value = given.find(field.name);
    if (!takes_maps || (given.size() == 1 && value != nullptr && value->is_map())) return given;
  }
  return ConfigNode::map({{field.name, given, given.position()}}, given.position());
}

std::string AnySchema::main_field() const {
  std::string name;
  int count = 0;
  for (const FieldInfo& info : infos_) {
    if (!info.required && infos_.size() > 1) continue;
    name = info.name;
    ++count;
  }
  return count == 1 ? name : "";
}

}  // namespace tpack
