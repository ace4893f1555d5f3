#include "dataflow/spec.h"

#include "core/text.h"

namespace tpack {

std::optional<ComponentRef> Codec<ComponentRef>::parse(const ConfigNode& node, Reader& reader) {
  ComponentRef ref;
  ref.position = node.position();
  if (node.kind() == ConfigNode::Kind::kInt && node.as_int() >= 0) {
    ref.index = node.as_int();
  } else if (node.is_string()) {
    ref.name = node.text();
  } else {
    reader.wrong_type(node, "the name of a component, or its number from 0");
    return std::nullopt;
  }
  return ref;
}

ConfigNode Codec<ComponentRef>::dump(const ComponentRef& ref) {
  if (ref.index) return *ref.index;
  return ref.name.empty() ? ConfigNode() : ConfigNode(ref.name);
}

std::optional<size_t> Spec::find(const std::string& name) const {
  for (size_t i = 0; i < components_.size(); ++i) {
    if (components_[i].name == name) return i;
  }
  return std::nullopt;
}

size_t Spec::index(const ComponentRef& ref, const std::string& owner) const {
  if (ref.index) {
    if (static_cast<size_t>(*ref.index) < size()) return static_cast<size_t>(*ref.index);
    throw ConfigError(ref.position, owner + ": unknown component " + std::to_string(*ref.index) +
                                        "; the datapoints have " + std::to_string(size()) + ": " + str());
  }
  if (const auto found = find(ref.name)) return *found;
  std::vector<std::string> names;
  for (const ComponentSpec& component : components_) names.push_back(component.name);
  const ConfigError unknown = unknown_reference("component", ref.name, ref.position, names);
  throw ConfigError(ref.position, owner + ": " + unknown.problems().front().text);
}

Spec Spec::batched(int64_t count) const {
  Spec out = *this;
  for (ComponentSpec& component : out.components_) {
    component.tensor.shape = component.tensor.shape.prepend(count);
  }
  return out;
}

std::string ComponentSpec::class_name(int64_t label) const {
  const bool named = label >= 0 && static_cast<size_t>(label) < classes.size();
  return named ? classes[static_cast<size_t>(label)] : std::to_string(label);
}

std::string Spec::str() const {
  std::vector<std::string> parts;
  for (const ComponentSpec& component : components_) {
    parts.push_back(component.name + " " + component.tensor.str());
  }
  return join(parts, ", ");
}

}  // namespace tpack
