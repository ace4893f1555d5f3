#include <algorithm>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map.h"

namespace tpack {
namespace {

struct NewName {
  std::string component;
  Position position;
  std::string name;
};

}  // namespace

template <>
struct Codec<std::vector<NewName>> {
  static FieldType type() { return FieldType::map_of(FieldType::text(), "new names by component"); }
  static std::optional<std::vector<NewName>> parse(const ConfigNode& node, Reader& reader) {
    if (!node.is_map()) {
      reader.wrong_type(node, "new names by component, such as {image: photo}");
      return std::nullopt;
    }
    std::vector<NewName> all;
    for (const auto& [component, value, position] : node.entries()) {
      if (auto name = Codec<std::string>::parse(value, reader))
        all.push_back({component, position, std::move(*name)});
    }
    return all.size() == node.size() ? std::optional(std::move(all)) : std::nullopt;
  }
  static ConfigNode dump(const std::vector<NewName>& all) {
    std::vector<ConfigNode::Entry> entries;
    for (const NewName& one : all) entries.push_back({one.component, one.name});
    return ConfigNode::map(std::move(entries));
  }
};

namespace {

struct RenameComponentsParams {
  std::vector<NewName> names;
};

/// Renames components; values and order stay.
class RenameComponents final : public Map {
 public:
  using Params = RenameComponentsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Renames components, for example to join two flows with the same names.")
        .example("RenameComponents: {image: photo}")
        .field("names", &Params::names, "new names by old name")
        .required()
        .shorthand();
  }
  explicit RenameComponents(Params p) : p_(std::move(p)) {
    if (p_.names.empty()) throw ConfigError("RenameComponents: 'names' is empty; write {OLD_NAME: NEW_NAME}");
  }

  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    is_narrowed_ = true;
    for (std::string& name : wanted) {
      const auto found = std::find_if(p_.names.begin(), p_.names.end(),
                                      [&](const NewName& one) { return one.name == name; });
      if (found != p_.names.end()) name = found->component;
    }
    return wanted;
  }
  Spec bind(const Spec& in) override {
    std::vector<ComponentSpec> components(in.begin(), in.end());
    for (const NewName& one : p_.names) {
      ComponentRef ref(one.component.c_str());
      ref.position = one.position;
      if (is_narrowed_ && !in.find(one.component)) continue;  // a prediction does not need it
      components[in.index(ref, kOwner)].name = one.name;
    }
    for (const NewName& one : p_.names) {
      const auto same = std::count_if(components.begin(), components.end(),
                                      [&](const ComponentSpec& c) { return c.name == one.name; });
      if (same > 1) {
        throw ConfigError(one.position, std::string(kOwner) + ": two components would be called '" +
                                            one.name + "'; choose another name");
      }
    }
    return Spec(std::move(components));
  }
  bool apply(Datapoint& /*d*/, const SampleKey& /*key*/) const override { return true; }

 private:
  static constexpr const char* kOwner = "map RenameComponents";

  Params p_;
  bool is_narrowed_ = false;
};

TPACK_REGISTER(Map, RenameComponents, "RenameComponents");

}  // namespace
}  // namespace tpack
