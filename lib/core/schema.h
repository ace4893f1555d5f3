#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/config_node.h"
#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// Reports every key of `node` that is not in `fields`, with the nearest one.
void check_keys(const ConfigNode& node, const std::vector<FieldInfo>& fields, const std::string& owner,
                Diagnostics& errors);
/// Reports a node that should be a map of parameters; true if it is one (or null: no parameters).
bool check_is_map(const ConfigNode& node, const std::string& owner, Diagnostics& errors,
                  const std::string& main_field = "");

/// A Schema without its type: what needs no type is compiled once.
class AnySchema {
 public:
  const std::string& summary() const { return summary_; }
  const std::string& example() const { return example_; }
  const std::vector<FieldInfo>& fields() const { return infos_; }
  /// The parameters of `given` with all defaults. Reports all mistakes.
  ConfigNode effective(const ConfigNode& given, const std::string& owner, Diagnostics& errors) const;

 protected:
  /// The Codec of a type, for a value at an address.
  struct ValueType {
    FieldType (*type)();
    void (*parse)(void* value, const ConfigNode& node, Reader& reader);
    ConfigNode (*dump)(const void* value);
  };
  template <class T>
  static constexpr ValueType kValueType{
      Codec<T>::type,
      [](void* value, const ConfigNode& node, Reader& reader) {
        if (auto parsed = Codec<T>::parse(node, reader)) *static_cast<T*>(value) = std::move(*parsed);
      },
      [](const void* value) { return Codec<T>::dump(*static_cast<const T*>(value)); }};
  /// How parameters with all defaults are made, of the struct that a schema describes.
  struct ParamsType {
    void* (*make)();
    void (*free)(void* params);
  };

  AnySchema(std::string summary, ParamsType params) : params_(params), summary_(std::move(summary)) {}
  /// `value`: the field in `params`, which have all defaults.
  void add_field(const char* name, const ValueType& type, const void* params, const void* value, Check check,
                 const char* doc);
  /// The fields of `base`, which lies `offset` bytes inside these parameters.
  void take_fields(const AnySchema& base, ptrdiff_t offset);
  void parse_into(void* params, const ConfigNode& given, const std::string& owner, Diagnostics& errors) const;
  ConfigNode dump_from(const void* params) const;

  FieldInfo& last() { return infos_.back(); }
  void set_example(std::string item_yaml) { example_ = std::move(item_yaml); }
  void set_shorthand();

 private:
  struct Member {
    const ValueType* type;
    ptrdiff_t offset;  // in the parameters, bytes
  };

  ConfigNode expanded(const ConfigNode& given) const;
  /// The field that a single value probably sets; "" if there are several.
  std::string main_field() const;

  ParamsType params_;
  std::string summary_;
  std::string example_;
  std::vector<FieldInfo> infos_;
  std::vector<Member> members_;
  size_t shorthand_ = 0;  // 1 + index of the field, 0: none
};

/// The one description of a component's parameters. `P` is a plain struct whose member initializers are the
/// defaults; the schema adds name, range and a line of doc. Parsing, checks, docs, JSON Schema and the dump
/// of the effective config all use it.
template <class P>
class Schema : public AnySchema {
 public:
  /// `summary`: the first sentence of the reference page.
  explicit Schema(std::string summary)
      : AnySchema(std::move(summary),
                  {[]() -> void* { return new P{}; }, [](void* params) { delete static_cast<P*>(params); }}) {
  }

  using AnySchema::example;
  /// An example of the component, `Name: {...}` in YAML, for docs and for the tests that build every
  /// component. Required for a component with fields.
  Schema& example(std::string item_yaml) {
    set_example(std::move(item_yaml));
    return *this;
  }
  template <class T>
  Schema& field(const char* name, T P::*member, const char* doc) {
    return field(name, member, Check{}, doc);
  }
  template <class T>
  Schema& field(const char* name, T P::*member, Check check, const char* doc) {
    const P& params = defaults();
    add_field(name, kValueType<T>, &params, &(params.*member), check, doc);
    return *this;
  }
  /// The last field has no default: leaving it out is an error.
  Schema& required() {
    last().required = true;
    return *this;
  }
  /// The structure of the last field, a subtree that the owner reads, is this type.
  Schema& type(const FieldType& type) {
    last().type = type;
    return *this;
  }
  /// The last field may be written as the component's value itself: `Softmax: fc1`. A map is the value if the
  /// only field is a map, unless it is {FIELD: {...}}.
  Schema& shorthand() {
    set_shorthand();
    return *this;
  }

  /// Reads parameters; `owner` ("layer Conv2D") is their name in messages. Reports all mistakes.
  P parse(const ConfigNode& given, const std::string& owner, Diagnostics& errors) const {
    P params{};
    parse_into(&params, given, owner, errors);
    return params;
  }
  /// As above; throws ConfigError with all problems.
  P parse(const ConfigNode& node, const std::string& owner) const {
    Diagnostics errors;
    P params = parse(node, owner, errors);
    errors.throw_if_any();
    return params;
  }
  /// The parameters with all defaults.
  ConfigNode dump(const P& params) const { return dump_from(&params); }

  /// The same fields for parameters that derive from these; `summary` replaces the summary.
  template <std::derived_from<P> Derived>
  Schema<Derived> as(const std::string& summary = {}) const {
    Schema<Derived> derived(summary.empty() ? this->summary() : summary);
    const Derived& params = Schema<Derived>::defaults();
    derived.take_fields(*this, reinterpret_cast<const char*>(static_cast<const P*>(&params)) -
                                   reinterpret_cast<const char*>(&params));
    return derived;
  }

 private:
  template <class>
  friend class Schema;

  static const P& defaults() {
    static const P kDefaults{};
    return kDefaults;
  }
};

/// Parameters of a component that has none.
struct NoParams {};

}  // namespace tpack
