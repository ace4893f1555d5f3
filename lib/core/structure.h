#pragma once

#include <string>

#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

/// The form of a value of `type`: the matching one of several alternatives, or, if a section is not written
/// as a map, the type of the field that the value sets.
FieldType form_of(const FieldType& type, const ConfigNode& value);

/// The type of the value at `word` in a value of this form: an item of a list, a value of a map or section,
/// the parameters of a component. Base::kAny if it is unknown, as for a component that is not registered (a
/// plugin may define it).
FieldType type_below(const FieldType& form, const std::string& word);

/// The field of a section or map; null if it has no such field or the type is neither.
const FieldInfo* field_named(const FieldType& type, const std::string& name);

/// The list that a section can be written as; null if there is none.
const ConfigNode* shorthand_list(const FieldType& form, const ConfigNode& value);

}  // namespace tpack
