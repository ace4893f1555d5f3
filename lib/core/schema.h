#pragma once

#include <concepts>
#include <functional>
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

/// The one description of a component's parameters. `P` is a plain struct whose member initializers are the
/// defaults; the schema adds name, range and a line of doc. Parsing, checks, docs, JSON Schema and the dump
/// of the effective config all use it.
template <class P>
class Schema {
 public:
  /// `summary`: the first sentence of the reference page.
  explicit Schema(std::string summary) : summary_(std::move(summary)) {}

  /// An example of the component, `Name: {...}` in YAML, for docs and for the tests that build every
  /// component. Required for a component with fields.
  Schema& example(std::string item_yaml) {
    example_ = std::move(item_yaml);
    return *this;
  }
  template <class T>
  Schema& field(const char* name, T P::*member, const char* doc) {
    return field(name, member, Check{}, doc);
  }
  template <class T>
  Schema& field(const char* name, T P::*member, Check check, const char* doc) {
    infos_.push_back({name, Codec<T>::type(), check, Codec<T>::dump(P{}.*member), false, doc});
    members_.push_back({[member](P& p, const ConfigNode& node, Reader& reader) {
                          if (auto value = Codec<T>::parse(node, reader)) p.*member = std::move(*value);
                        },
                        [member](const P& p) { return Codec<T>::dump(p.*member); }});
    return *this;
  }
  /// The last field has no default: leaving it out is an error.
  Schema& required() {
    infos_.back().required = true;
    return *this;
  }
  /// The structure of the last field, a subtree that the owner reads, is this type.
  Schema& type(FieldType type) {
    infos_.back().type = std::move(type);
    return *this;
  }
  /// The last field may be written as the component's value itself: `Softmax: fc1`.
  Schema& shorthand() {
    shorthand_ = infos_.size();
    infos_.back().shorthand = true;
    return *this;
  }

  /// Reads parameters; `owner` ("layer Conv2D") is their name in messages. Reports all mistakes.
  P parse(const ConfigNode& given, const std::string& owner, Diagnostics& errors) const {
    P params{};
    const ConfigNode node = expanded(given);
    if (!check_is_map(node, owner, errors, main_field())) return params;
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
        members_[i].parse(params, *value, reader);
      } else if (info.required) {
        errors.add(given.position(), owner + ": '" + info.name + "' is missing (" + info.doc + ")");
      }
    }
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
  ConfigNode dump(const P& params) const {
    std::vector<ConfigNode::Entry> entries;
    for (size_t i = 0; i < infos_.size(); ++i) entries.push_back({infos_[i].name, members_[i].dump(params)});
    return ConfigNode::map(std::move(entries));
  }

  /// The same fields for parameters that derive from these; `summary` replaces the summary.
  template <std::derived_from<P> Derived>
  Schema<Derived> as(const std::string& summary = {}) const {
    Schema<Derived> derived(summary.empty() ? summary_ : summary);
    derived.example_ = example_;
    derived.infos_ = infos_;
    for (const Member& member : members_) derived.members_.push_back({member.parse, member.dump});
    derived.shorthand_ = shorthand_;
    return derived;
  }

  const std::string& summary() const { return summary_; }
  const std::string& example() const { return example_; }
  const std::vector<FieldInfo>& fields() const { return infos_; }

 private:
  template <class>
  friend class Schema;
  struct Member {
    std::function<void(P&, const ConfigNode&, Reader&)> parse;
    std::function<ConfigNode(const P&)> dump;
  };

  ConfigNode expanded(const ConfigNode& given) const {
    if (shorthand_ == 0 || given.is_map() || given.is_null()) return given;
    return ConfigNode::map({{infos_[shorthand_ - 1].name, given, given.position()}}, given.position());
  }

  /// The field that a single value probably sets; "" if there are several.
  std::string main_field() const {
    std::string name;
    int count = 0;
    for (const FieldInfo& info : infos_) {
      if (!info.required && infos_.size() > 1) continue;
      name = info.name;
      ++count;
    }
    return count == 1 ? name : "";
  }

  std::string summary_;
  std::string example_;
  std::vector<FieldInfo> infos_;
  std::vector<Member> members_;
  size_t shorthand_ = 0;  // 1 + index of the field, 0: none
};

/// Parameters of a component that has none.
struct NoParams {};

}  // namespace tpack
