#include "core/structure.h"

#include <algorithm>
#include <span>

#include "core/registry.h"

namespace tpack {
namespace {

using Base = FieldType::Base;

bool fits(const FieldType& type, const ConfigNode& value) {
  switch (type.base) {
    case Base::kList:
      return value.is_list();
    case Base::kMap:
      return value.is_map();
    case Base::kSection:
      return value.is_map() || !type.shorthand.empty();
    case Base::kEither:
      return std::any_of(type.alternatives->begin(), type.alternatives->end(),
                         [&](const FieldType& alternative) { return fits(alternative, value); });
    case Base::kComponent:
      return value.is_string() || (value.is_map() && value.size() == 1);
    case Base::kAny:
      return true;
    default:
      return value.is_scalar();
  }
}

/// The parameters of a component of one of the kinds.
FieldType parameters_of(const FieldType& type, const std::string& name) {
  const std::span<const std::string> kinds =
      type.choices.empty() ? std::span(&type.of, 1) : std::span<const std::string>(type.choices);
  for (const std::string& kind : kinds) {
    const ComponentInfo* info = ComponentTable::of(kind).find(name);
    if (info == nullptr) continue;
    std::vector<FieldInfo> fields = info->fields();
    for (FieldInfo& field : info->common_fields()) fields.push_back(std::move(field));
    const auto stands = std::find_if(fields.begin(), fields.end(), [](const auto& f) { return f.shorthand; });
    const std::string shorthand = stands == fields.end() ? "" : stands->name;
    return FieldType::section(std::move(fields), kind + " " + info->name, shorthand);
  }
  return {};
}

FieldType below(const FieldType& form, const std::string& word) {
  switch (form.base) {
    case Base::kList:
      return *form.element;
    case Base::kMap:
    case Base::kSection: {
      const FieldInfo* field = field_named(form, word);
      if (field != nullptr) return field->type;
      return form.base == Base::kMap ? *form.element : FieldType{};
    }
    case Base::kComponent:
      return parameters_of(form, word);
    default:
      return {};
  }
}

}  // namespace

FieldType form_of(const FieldType& type, const ConfigNode& value) {
  FieldType form = type;
  if (type.base == Base::kEither) {
    const auto& all = *type.alternatives;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& t) { return fits(t, value); });
    form = found == all.end() ? FieldType{} : form_of(*found, value);
  } else if (type.base == Base::kSection && !type.shorthand.empty() && !value.is_map()) {
    form = form_of(field_named(type, type.shorthand)->type, value);
  }
  form.owns_names = form.owns_names || type.owns_names;
  return form;
}

FieldType type_below(const FieldType& form, const std::string& word) {
  FieldType type = below(form, word);
  type.owns_names = type.owns_names || form.owns_names;
  return type;
}

const FieldInfo* field_named(const FieldType& type, const std::string& name) {
  if (type.fields == nullptr) return nullptr;
  const auto found = std::find_if(type.fields->begin(), type.fields->end(),
                                  [&](const FieldInfo& field) { return field.name == name; });
  return found == type.fields->end() ? nullptr : &*found;
}

const ConfigNode* shorthand_list(const FieldType& form, const ConfigNode& value) {
  if (form.base != Base::kSection || form.shorthand.empty()) return nullptr;
  const ConfigNode* list = value.find(form.shorthand);
  return list != nullptr && list->is_list() ? list : nullptr;
}

}  // namespace tpack
