#pragma once

#include <string>

#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

/// The form in which a value of `type` is written: of several alternatives the one that fits, and the type of
/// the field that the value stands for where a section is not written as a map.
FieldType form_of(const FieldType& type, const ConfigNode& value);

/// The type of what `word` leads to in a value of this form: an item of a list, a value of a map or section,
/// the parameters of a component. Base::kAny where nothing is known, as of a component that is not registered
/// (a plugin may bring it).
FieldType type_below(const FieldType& form, const std::string& word);

/// The field of a section or map, null where it has none of that name or the type is neither.
const FieldInfo* field_named(const FieldType& type, const std::string& name);

/// The list among the settings of a section that can be written as this list alone; null where there is none.
const ConfigNode* shorthand_list(const FieldType& form, const ConfigNode& value);

}  // namespace tpack
