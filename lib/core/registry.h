#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config_node.h"
#include "core/error.h"
#include "core/plugin.h"
#include "core/schema.h"

namespace tpack {

/// An alias of a component, perhaps with another default for one of its fields.
struct Variant {
  const char* name = nullptr;
  const char* field = nullptr;
  const char* value = nullptr;
};

/// Information on one registered component, without making it.
struct ComponentInfo {
  std::string kind;  // "layer"
  std::string name;  // as YAML writes it
  std::vector<std::string> aliases = {};
  std::vector<Variant> variants = {};  // aliases with other defaults
  std::string file = {};               // source file of the registration
  AnySchema (*schema)() = nullptr;
  /// Common parameters of all components of its kind; null if there are none.
  AnySchema (*common_schema)() = nullptr;
  void (*factory)() = nullptr;  // Registry<Kind> knows its real type

  std::string summary() const { return schema().summary(); }
  /// An item in YAML; empty: the name alone.
  std::string example() const { return schema().example(); }
  std::vector<FieldInfo> fields() const { return schema().fields(); }
  std::vector<FieldInfo> common_fields() const;
  /// The parameters with all defaults; reports mistakes.
  ConfigNode effective(const ConfigNode& params, const std::string& owner, Diagnostics& errors) const;
  /// The parameters of an item under the name that it uses.
  ConfigNode params_of(const ComponentItem& item) const;
};

/// The components of one kind, by name. One table per kind in the whole process, plugins included.
/// Threads: registration happens before main and while plugins load; look-ups may then run at once.
class ComponentTable {
 public:
  static ComponentTable& of(std::string_view kind);
  /// Every kind that has components, sorted.
  static std::vector<std::string> kinds();

  /// Never throws (it runs before main): a second component with the same name is a problem that the next
  /// look-up reports with both file names.
  void add(ComponentInfo info) noexcept;
  /// Null if there is none. Errors: InternalError after a duplicate registration.
  const ComponentInfo* find(std::string_view name) const;
  /// Errors: ConfigError with position, the nearest name and other kinds that have the name.
  const ComponentInfo& at(const std::string& name, const Position& where) const;
  /// Sorted by name. Errors: as find.
  std::vector<const ComponentInfo*> list() const;
  const std::string& kind() const { return kind_; }

 private:
  explicit ComponentTable(std::string kind) : kind_(std::move(kind)) {}
  void check() const;

  std::string kind_;
  std::vector<std::unique_ptr<ComponentInfo>> components_;
  std::string duplicate_;  // text of the first duplicate
};

/// Makes components of one kind. `Kind` has `static constexpr const char* kKind` ("layer").
template <class Kind>
class Registry {
 public:
  using Factory = std::unique_ptr<Kind> (*)(const ConfigNode& params, const std::string& owner,
                                            Diagnostics& errors);

  static ComponentTable& table() { return ComponentTable::of(Kind::kKind); }

  /// Makes the component that a config item (`Name` or `Name: {...}`) describes; null after reporting.
  static std::unique_ptr<Kind> make(const ConfigNode& item, Diagnostics& errors) {
    try {
      const ComponentItem parsed = component_item(item, Kind::kKind);
      return make(parsed, errors);
    } catch (const ConfigError& error) {
      errors.add(error, item.position());
      return nullptr;
    }
  }
  static std::unique_ptr<Kind> make(const ComponentItem& item, Diagnostics& errors) {
    const size_t before = errors.count();
    try {
      const ComponentInfo& info = table().at(item.name, item.position);
      ConfigNode params = info.params_of(item);
      if (!params.position().known()) params = params.at_position(item.position);
      try {
        auto made = reinterpret_cast<Factory>(info.factory)(params, owner(info), errors);
        return errors.count() == before ? std::move(made) : nullptr;
      } catch (const ConfigError& error) {  // a condition across fields
        errors.add(error, params.position());
        return nullptr;
      }
    } catch (const ConfigError& error) {
      errors.add(error, item.position);
      return nullptr;
    }
  }
  /// As above; throws ConfigError with all problems. `make("ReLU")` or `make("LeakyReLU", {{"alpha", 0.1}})`
  /// from C++.
  static std::unique_ptr<Kind> make(const std::string& name, const ConfigNode& params = {}) {
    Diagnostics errors;
    auto made = make(ComponentItem{name, params, params.position()}, errors);
    errors.throw_if_any();
    return made;
  }
  /// As above, from a config item.
  static std::unique_ptr<Kind> make_item(const ConfigNode& item) {
    Diagnostics errors;
    auto made = make(item, errors);
    errors.throw_if_any();
    return made;
  }
  static std::string owner(const ComponentInfo& info) { return info.kind + " " + info.name; }
};

/// A kind with common parameters for all its components: it has `struct Common`, `static Schema<Common>
/// common_schema()` and `void take(Common)`, which is called after the component is made.
template <class Kind>
concept HasCommonParams = requires {
  Kind::common_schema();
};

/// Parameters divided into those of the component and those of its kind.
struct SplitParams {
  ConfigNode own;
  ConfigNode common;  // a map
};
SplitParams split_params(const ConfigNode& params, const std::vector<FieldInfo>& common);

/// A component that is another spelling of components of its kind: its parameters are read as an item of
/// another component, and `Kind::with_common` adds the common parameters of the kind to it.
template <class Params>
concept SpellsOthers = requires(const Params& p) {
  { p.rewritten() } -> std::same_as<ConfigNode>;
};

/// Makes a component. A kind that needs the classes of its components has `static void registered(Class&)`.
template <class Kind, class Class>
std::unique_ptr<Kind> make_component(typename Class::Params params) {
  auto made = std::make_unique<Class>(std::move(params));
  if constexpr (requires { Kind::registered(*made); }) Kind::registered(*made);
  return made;
}

/// Adds a component to the table of its kind.
void register_component(const char* kind, const char* name, std::initializer_list<Variant> aliases,
                        const char* file, AnySchema (*schema)(), AnySchema (*common_schema)(),
                        void (*factory)()) noexcept;

/// Adds a component to its table; the target of TPACK_REGISTER.
template <class Kind, class Class>
class Registrar {
 public:
  template <class... Aliases>
  Registrar(const char* file, const char* name, Aliases... aliases) {
    PluginInterface<kPluginVersion>::needed();
    using Params = typename Class::Params;
    const typename Registry<Kind>::Factory factory = [](const ConfigNode& params, const std::string& owner,
                                                        Diagnostics& errors) -> std::unique_ptr<Kind> {
      const size_t before = errors.count();
      if constexpr (HasCommonParams<Kind>) {
        const auto common = Kind::common_schema();
        const SplitParams split = split_params(params, common.fields());
        Params parsed = Class::schema().parse(split.own, owner, errors);
        auto parsed_common = common.parse(split.common, owner, errors);
        if (errors.count() != before) return nullptr;
        if constexpr (SpellsOthers<Params>) {
          return Registry<Kind>::make(Kind::with_common(parsed.rewritten(), split.common), errors);
        } else {
          auto made = make_component<Kind, Class>(std::move(parsed));
          made->take(std::move(parsed_common));
          return made;
        }
      } else {
        Params parsed = Class::schema().parse(params, owner, errors);
        if (errors.count() != before) return nullptr;
        return make_component<Kind, Class>(std::move(parsed));
      }
    };
    AnySchema (*common)() = nullptr;
    if constexpr (HasCommonParams<Kind>) common = []() -> AnySchema { return Kind::common_schema(); };
    register_component(
        Kind::kKind, name, {Variant{aliases}...}, file, []() -> AnySchema { return Class::schema(); }, common,
        reinterpret_cast<void (*)()>(factory));
  }
};

/// A nested component as a field of Params: made with its owner, written back with every default.
template <class Kind>
struct Part {
  std::shared_ptr<const Kind> object = nullptr;  // null: not given
  ConfigNode item = {};

  const Kind* operator->() const { return object.get(); }
  const Kind& operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }
};

/// `Name: {every parameter}` of a component item, aliases as Name; the item itself if it has mistakes.
ConfigNode effective_item(std::string_view kind, const ConfigNode& item);

/// A component that is not made yet: the code that uses it makes it.
template <class Kind>
struct Slot {
  ConfigNode item = {};  // null: not given
};
template <class Kind>
struct Codec<Slot<Kind>> {
  static FieldType type() {
    FieldType type = FieldType::component(Kind::kKind);
    type.nullable = true;
    return type;
  }
  static std::optional<Slot<Kind>> parse(const ConfigNode& node, Reader& /*reader*/) {
    return Slot<Kind>{node};
  }
  static ConfigNode dump(const Slot<Kind>& slot) {
    return slot.item.is_null() ? ConfigNode() : effective_item(Kind::kKind, slot.item);
  }
};

template <class Kind>
struct Codec<Part<Kind>> {
  static FieldType type() {
    FieldType type = FieldType::component(Kind::kKind);
    type.nullable = true;
    return type;
  }
  static std::optional<Part<Kind>> parse(const ConfigNode& node, Reader& reader) {
    if (node.is_null()) return Part<Kind>{};
    auto made = Registry<Kind>::make(node, reader.errors());
    if (made == nullptr) return std::nullopt;
    return Part<Kind>{std::move(made), node};
  }
  static ConfigNode dump(const Part<Kind>& part) {
    return part ? effective_item(Kind::kKind, part.item) : ConfigNode();
  }
};

}  // namespace tpack

/// Registers a component: kind, class, name in YAML, aliases (each a string or a Variant). One line next to
/// the class.
#define TPACK_REGISTER(Kind, Class, ...) \
  static const ::tpack::Registrar<Kind, Class> tpack_registrar_##Class { __FILE__, __VA_ARGS__ }
