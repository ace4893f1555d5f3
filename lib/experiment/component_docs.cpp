#include "experiment/component_docs.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

std::string default_text(const FieldInfo& field) {
  if (field.required) return "required";
  return field.default_value.is_null() ? "none" : to_json(field.default_value);
}

}  // namespace

std::vector<std::string> documented_kinds() {
  std::vector<std::string> kinds = ComponentTable::kinds();
  std::erase_if(
      kinds, [](const std::string& kind) { return kind == "op" || ComponentTable::of(kind).list().empty(); });
  return kinds;
}

std::vector<const ComponentInfo*> components_named(const std::string& name) {
  std::vector<const ComponentInfo*> found;
  std::vector<std::string> known;
  for (const std::string& kind : documented_kinds()) {
    if (const ComponentInfo* info = ComponentTable::of(kind).find(name)) found.push_back(info);
    for (const ComponentInfo* info : ComponentTable::of(kind).list()) known.push_back(info->name);
  }
  if (!found.empty()) return found;
  throw ConfigError("unknown component '" + name + "'" + did_you_mean(name, known) +
                    "; `tpack list` lists all");
}

std::string source_file(const ComponentInfo& info) {
  std::string path = info.file;  // from the build folder, or from the root
  while (path.starts_with("../")) path.erase(0, 3);
  const size_t lib = path.rfind("/lib/");
  return lib == std::string::npos ? path : path.substr(lib + 1);
}

std::string describe(const ComponentInfo& info) {
  std::string text = info.name + " (" + info.kind + ")";
  if (!info.aliases.empty()) text += ", also " + join(info.aliases, ", ");
  text += "\n" + info.summary() + "\n";
  if (const std::string example = info.example(); !example.empty())
    text += "\nExample:\n  " + join(split(example, '\n'), "\n  ") + "\n";
  const std::vector<FieldInfo> fields = info.fields();
  if (fields.empty()) return text + "\nNo parameters.\n";
  TextTable table({"parameter", "type", "range", "default", "meaning"});
  for (const FieldInfo& f : fields) table.add({f.name, f.type.str(), f.check.str(), default_text(f), f.doc});
  return text + "\n" + table.str();
}

std::string describe_json(const ComponentInfo& info) {
  nlohmann::ordered_json root = {{"kind", info.kind},
                                 {"name", info.name},
                                 {"aliases", info.aliases},
                                 {"summary", info.summary()},
                                 {"example", info.example()},
                                 {"source", source_file(info)},
                                 {"parameters", nlohmann::ordered_json::array()}};
  for (const FieldInfo& field : info.fields()) {
    nlohmann::ordered_json one = {
        {"name", field.name}, {"type", field.type.str()}, {"required", field.required}};
    if (!field.required) one["default"] = nlohmann::json::parse(to_json(field.default_value));
    if (!field.check.str().empty()) one["range"] = field.check.str();
    one["doc"] = field.doc;
    root["parameters"].push_back(std::move(one));
  }
  return root.dump(1);
}

}  // namespace tpack
