#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/field.h"

namespace tpack {

/// A flow as a parameter: a list of components, {flow: [...], workers: ...}, or the name of another flow.
/// Stays unparsed until a FlowBuilder builds it, so that trees of flows can refer to each other.
struct FlowField {
  ConfigNode node = {};
};

template <>
struct Codec<FlowField> {
  /// A section that can be written as its list of components.
  static FieldType type();
  static std::optional<FlowField> parse(const ConfigNode& node, Reader& reader);
  /// The flow with all parameters of its components.
  static ConfigNode dump(const FlowField& field);
};

/// The flows of a config by name, which a FlowField may refer to.
using FlowScope = std::map<std::string, ConfigNode>;

/// The names of the flows that a flow refers to: as its name, or in a JoinData or another source of flows.
std::set<std::string> flows_named_in(const ConfigNode& flow);

/// The names of the flows that are neither part of another one ([JoinData: [images, labels]]) nor an alias of
/// it: train first, then by name.
std::vector<std::string> whole_flows(const FlowScope& flows);

/// The kind ("source", "map", "stage") of the component of that name; null if there is none.
const char* kind_of_flow_component(const std::string& name);

}  // namespace tpack
