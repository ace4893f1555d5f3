#include "reports/json_schema.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/structure.h"
#include "core/text.h"
#include "experiment/experiment_config.h"
#include "model/layer_parser.h"
#include "reports/component_docs.h"

namespace tpack {
namespace {

using Json = nlohmann::ordered_json;

/// Integers without a decimal point.
Json number(double value) {
  if (std::trunc(value) == value && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return value;
}

Json number_schema(const char* type, const Check& check) {
  Json out = {{"type", type}};
  if (check.minimum) out["minimum"] = number(*check.minimum);
  if (check.maximum) out["maximum"] = number(*check.maximum);
  if (check.above) out["exclusiveMinimum"] = number(*check.above);
  return out;
}

/// One of these; nested alternatives are flattened.
Json any_of(const std::vector<Json>& ways) {
  Json all = Json::array();
  for (const Json& way : ways) {
    const bool nested = way.size() == 1 && way.contains("anyOf");
    for (const Json& each : nested ? way.at("anyOf") : Json::array({way})) all.push_back(each);
  }
  return {{"anyOf", std::move(all)}};
}

/// An expression is possible in place of any number or flag.
Json or_expression(Json type) {
  return any_of({std::move(type), {{"type", "string"}, {"pattern", "\\$\\("}}});
}

Json closed_object(Json properties) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

/// Kinds of components that are possible in one place, and the name of the definition of their items.
struct Kinds {
  std::vector<std::string> kinds;

  explicit Kinds(const FieldType& type)
      : kinds(type.choices.empty() ? std::vector<std::string>{type.of} : type.choices) {}
  std::string name() const {
    std::string text = join(kinds, "_or_");
    for (char& c : text) c = c == ' ' ? '_' : c;
    return text;
  }
};

/// Writes the schemas of types, and collects the definitions that they refer to.
class SchemaWriter {
 public:
  Json of(const FieldType& type, const Check& check);
  Json of(const FieldInfo& field);
  Json properties_of(const std::vector<FieldInfo>& fields);
  Json take_definitions() { return std::move(definitions_); }

 private:
  Json reference_to(const Kinds& kinds);
  Json item_of(const Kinds& kinds);
  Json component(const ComponentInfo& info);

  Json definitions_ = Json::object();
};

Json SchemaWriter::of(const FieldType& type, const Check& check) {
  using Base = FieldType::Base;
  switch (type.base) {
    case Base::kBool:
      if (!type.choices.empty()) return {{"const", type.choices.front() == "true"}};
      return or_expression({{"type", "boolean"}});
    case Base::kInteger:
      return or_expression(number_schema("integer", check));
    case Base::kNumber:
      return or_expression(number_schema("number", check));
    case Base::kText:
    case Base::kReference:
    case Base::kPattern:
      return {{"type", "string"}};
    case Base::kChoice:
      return or_expression({{"enum", type.choices}});
    case Base::kList:
      return {{"type", "array"}, {"items", of(*type.element, check)}};
    case Base::kMap: {
      Json map = {{"type", "object"}, {"additionalProperties", of(*type.element, check)}};
      if (!type.fields->empty()) map["properties"] = properties_of(*type.fields);
      return map;
    }
    case Base::kSection: {
      Json map = closed_object(properties_of(*type.fields));
      if (type.shorthand.empty()) return map;
      return any_of({of(field_named(type, type.shorthand)->type, {}), std::move(map)});
    }
    case Base::kEither: {
      std::vector<Json> ways;
      for (const FieldType& way : *type.alternatives) ways.push_back(of(way, check));
      return any_of(ways);
    }
    case Base::kComponent:
      return reference_to(Kinds(type));
    case Base::kAny:
      return Json::object();
  }
  return Json::object();
}

Json SchemaWriter::of(const FieldInfo& field) {
  Json out = of(field.type, field.check);
  if (field.type.nullable) out = any_of({out, {{"type", "null"}}});
  out["description"] = field.doc;
  if (!field.required) out["default"] = Json::parse(to_json(field.default_value));
  return out;
}

Json SchemaWriter::properties_of(const std::vector<FieldInfo>& fields) {
  Json properties = Json::object();
  for (const FieldInfo& field : fields) properties[field.name] = of(field);
  return properties;
}

Json SchemaWriter::reference_to(const Kinds& kinds) {
  const std::string name = kinds.name();
  if (!definitions_.contains(name)) {
    definitions_[name] = Json::object();  // components may contain components of the same kind
    definitions_[name] = item_of(kinds);
  }
  return {{"$ref", "#/$defs/" + name}};
}

/// `Name` or `Name: {parameters}`. Layer lists may also have the blocks of the file; a kind without
/// components here gets them from plugins.
Json SchemaWriter::item_of(const Kinds& kinds) {
  Json names = Json::array();
  Json properties = Json::object();
  for (const std::string& kind : kinds.kinds) {
    for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
      const Json one = component(*info);
      std::vector<std::string> all = info->aliases;
      all.insert(all.begin(), info->name);
      for (const std::string& name : all) {
        names.push_back(name);
        properties[name] = one;
      }
    }
  }
  const bool open = names.empty() || kinds.kinds.front() == Layer::kKind;
  Json map = {
      {"type", "object"}, {"properties", std::move(properties)}, {"minProperties", 1}, {"maxProperties", 1}};
  if (!open) map["additionalProperties"] = false;
  Json name = open ? Json{{"type", "string"}} : Json{{"enum", std::move(names)}};
  return any_of({std::move(name), std::move(map)});
}

/// A component may have one parameter as its value, so other types are not rejected.
Json SchemaWriter::component(const ComponentInfo& info) {
  Json parameters = properties_of(info.fields());
  if (info.kind == Layer::kKind) {
    for (const FieldInfo& field : common_layer_fields()) parameters[field.name] = of(field);
  }
  for (const FieldInfo& field : info.common_fields()) parameters[field.name] = of(field);
  std::string description = info.summary();
  if (const std::string example = info.example(); !example.empty()) description += "\nExample:\n" + example;
  Json object = closed_object(std::move(parameters));
  for (const FieldInfo& field : info.fields()) {  // a shorthand that is a map itself
    if (field.shorthand && field.type.base == FieldType::Base::kMap)
      object = any_of({std::move(object), of(field.type, {})});
  }
  return {{"description", std::move(description)}, {"if", {{"type", "object"}}}, {"then", std::move(object)}};
}

}  // namespace

std::string json_schema() {
  SchemaWriter writer;
  Json root = writer.of(config_structure(), {});
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "tpack experiment";
  for (const std::string& kind : documented_kinds()) writer.of(FieldType::component(kind), {});
  root["$defs"] = writer.take_definitions();
  return root.dump(1);
}

}  // namespace tpack
