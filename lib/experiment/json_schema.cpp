#include "experiment/json_schema.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "dataflow/data_flow.h"
#include "dataflow/map.h"
#include "dataflow/source.h"
#include "dataflow/stage.h"
#include "experiment/component_docs.h"
#include "experiment/experiment_config.h"
#include "layers/cost.h"
#include "layers/layer.h"
#include "layers/model.h"

namespace tpack {
namespace {

using Json = nlohmann::ordered_json;

std::string definition_name(const std::string& kind) {
  std::string name = kind;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}

Json reference_to(const std::string& kind) { return {{"$ref", "#/$defs/" + definition_name(kind)}}; }

/// Wherever a number or flag is allowed, an expression is allowed.
Json or_expression(Json type) {
  return {{"anyOf", {std::move(type), {{"type", "string"}, {"pattern", "\\$\\("}}}}};
}

/// Whole numbers without a point.
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

Json schema_of(const FieldType& type, const Check& check) {
  using Base = FieldType::Base;
  switch (type.base) {
    case Base::kBool:
      return or_expression({{"type", "boolean"}});
    case Base::kInteger:
      return or_expression(number_schema("integer", check));
    case Base::kNumber:
      return or_expression(number_schema("number", check));
    case Base::kText:
      return {{"type", "string"}};
    case Base::kChoice:
      return {{"anyOf", {{{"enum", type.choices}}, {{"type", "string"}, {"pattern", "\\$\\("}}}}};
    case Base::kList:
      return {{"type", "array"}, {"items", schema_of(*type.element, check)}};
    case Base::kComponent:
      return reference_to(type.of);
    case Base::kReference:
      return {{"type", "string"}};
    case Base::kAny:
      return type.of == "a flow" ? reference_to("flow") : Json::object();
  }
  return Json::object();
}

Json schema_of(const FieldInfo& field) {
  Json out = schema_of(field.type, field.check);
  if (field.type.nullable) out = {{"anyOf", {out, {{"type", "null"}}}}};
  out["description"] = field.doc;
  if (!field.required) out["default"] = Json::parse(to_json(field.default_value));
  return out;
}

Json properties_of(const std::vector<FieldInfo>& fields) {
  Json properties = Json::object();
  for (const FieldInfo& field : fields) properties[field.name] = schema_of(field);
  return properties;
}

Json closed_object(Json properties) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

/// Puts a schema in the place of another one, whose description stays.
void replace(Json& old, Json with) {
  with["description"] = old["description"];
  old = std::move(with);
}

/// `Name` or `Name: {parameters}` of one component, by name.
void add_components(const std::string& kind, Json& names, Json& properties) {
  for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
    Json parameters = properties_of(info->fields());
    if (kind == Layer::kKind) {
      parameters["name"] = {{"type", "string"}, {"description", "name of the layer"}};
      parameters["input"] = {
          {"description", "a layer, an input, or a list of them; default: the output before"}};
    }
    // A component may have one parameter as its value, so that other types are not refused.
    const Json component = {{"description", info->summary()},
                            {"if", {{"type", "object"}}},
                            {"then", closed_object(std::move(parameters))}};
    std::vector<std::string> all = info->aliases;
    all.insert(all.begin(), info->name);
    for (const std::string& name : all) {
      names.push_back(name);
      properties[name] = component;
    }
  }
}

/// An item of a component list; layer lists may also have the blocks of the file.
Json item_of(const std::vector<std::string>& kinds) {
  Json names = Json::array();
  Json properties = Json::object();
  for (const std::string& kind : kinds) add_components(kind, names, properties);
  const bool open = kinds.front() == Layer::kKind;
  Json map = {
      {"type", "object"}, {"properties", std::move(properties)}, {"minProperties", 1}, {"maxProperties", 1}};
  if (!open) map["additionalProperties"] = false;
  Json name = open ? Json{{"type", "string"}} : Json{{"enum", std::move(names)}};
  return {{"anyOf", {std::move(name), std::move(map)}}};
}

Json flow_definition() {
  const Json list = {{"type", "array"}, {"items", item_of({Source::kKind, Map::kKind, Stage::kKind})}};
  Json settings = properties_of(flow_fields());
  replace(settings["flow"], {{"anyOf", {list, {{"type", "string"}}}}});
  return {{"anyOf", {list, closed_object(std::move(settings)), {{"type", "string"}}}}};
}

Json list_of(const char* kind) { return {{"type", "array"}, {"items", reference_to(kind)}}; }

Json model_definition() {
  Json properties = properties_of(model_fields());
  replace(properties["layers"],
          {{"anyOf", {list_of(Layer::kKind), {{"type", "object"}}, {{"type", "string"}}}}});
  replace(properties["cost"], list_of(Cost::kKind));
  replace(properties["costs"], {{"type", "object"}, {"additionalProperties", list_of(Cost::kKind)}});
  const Json network = closed_object(
      {{"inputs", {{"type", "array"}, {"items", {{"type", "string"}}}}}, {"layers", list_of(Layer::kKind)}});
  replace(properties["networks"],
          {{"type", "object"}, {"additionalProperties", {{"anyOf", {list_of(Layer::kKind), network}}}}});
  replace(properties["metrics"], list_of(Metric::kKind));
  return closed_object(std::move(properties));
}

}  // namespace

std::string json_schema() {
  Json properties = properties_of(experiment_schema().fields());
  properties["include"] = {{"description", "config files that this one extends, with paths relative to it"}};
  replace(properties["data"], {{"type", "object"}, {"additionalProperties", reference_to("flow")}});
  replace(properties["model"], model_definition());
  replace(properties["updates"],
          {{"type", "object"}, {"additionalProperties", closed_object(properties_of(update_fields()))}});
  replace(properties["engine"], closed_object(properties_of(engine_fields())));
  replace(properties["init"], closed_object(properties_of(init_fields())));
  replace(properties["predict"], closed_object(properties_of(predict_fields())));
  replace(properties["default_callbacks"], {{"anyOf", {{{"const", false}}, list_of(Callback::kKind)}}});
  Json root = closed_object(std::move(properties));
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "tpack experiment";
  for (const std::string& kind : documented_kinds()) root["$defs"][definition_name(kind)] = item_of({kind});
  root["$defs"]["flow"] = flow_definition();
  return root.dump(1);
}

}  // namespace tpack
