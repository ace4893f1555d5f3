#pragma once

#include <map>
#include <string>

#include "core/field.h"

namespace tpack {

/// A flow as a parameter: a list of components, {flow: [...], workers: ...}, or the name of another flow.
/// Kept as it was written until a FlowBuilder makes it, so that trees of flows can refer to each other.
struct FlowField {
  ConfigNode node = {};
};

template <>
struct Codec<FlowField> {
  /// A section that may be its list of components alone.
  static FieldType type();
  static std::optional<FlowField> parse(const ConfigNode& node, Reader& reader);
  /// With every parameter of its components written out.
  static ConfigNode dump(const FlowField& field);
};

/// The flows of a config by name: what a FlowField that is a name may mean.
using FlowScope = std::map<std::string, ConfigNode>;

/// The kind ("source", "map", "stage") of the component of that name; null if there is none.
const char* kind_of_flow_component(const std::string& name);

}  // namespace tpack
