#include "reports/component_docs.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"
#include "experiment/experiment_config.h"
#include "model/layer_parser.h"

namespace tpack {
namespace {

std::string default_text(const FieldInfo& field) {
  if (field.required) return "required";
  return field.default_value.is_null() ? "none" : to_json(field.default_value);
}

bool names_component(const std::string& name) {
  const std::vector<std::string> kinds = documented_kinds();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const std::string& kind) { return ComponentTable::of(kind).find(name) != nullptr; });
}

/// A section or a setting of a section, by its path: "model.inputs.NAME.shape".
struct Setting {
  std::string path;
  FieldInfo field;
};

void add_settings(const std::string& path, const FieldType& type, std::vector<Setting>& all);

void add_setting(const std::string& path, const FieldInfo& field, std::vector<Setting>& all) {
  all.push_back({path, field});
  add_settings(path, field.type, all);
}

/// The settings below a value of this type.
void add_settings(const std::string& path, const FieldType& type, std::vector<Setting>& all) {
  if (type.base == FieldType::Base::kMap) add_settings(path + ".NAME", *type.element, all);
  if (type.fields == nullptr) return;
  for (const FieldInfo& field : *type.fields) add_setting(path + "." + field.name, field, all);
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  const FieldType config = config_structure();
  for (const FieldInfo& section : *config.fields) add_setting(section.name, section, all);
  return all;
}

/// The section with this path and its settings. The end of the path is enough, such as GAN, if it is unique
/// and not the name of a component.
std::vector<Setting> settings(std::string path) {
  std::vector<Setting> all = settings();
  std::vector<std::string> named;
  for (const Setting& setting : all) {
    if (setting.field.type.fields != nullptr && setting.path.ends_with("." + path))
      named.push_back(setting.path);
  }
  const auto is_it = [&](const Setting& setting) { return setting.path == path; };
  if (named.size() == 1 && std::none_of(all.begin(), all.end(), is_it) && !names_component(path))
    path = named[0];
  std::erase_if(all, [&](const Setting& setting) {
    return setting.path != path && !setting.path.starts_with(path + ".");
  });
  return all;
}

nlohmann::ordered_json as_json(const std::string& name, const FieldInfo& field) {
  nlohmann::ordered_json one = {{"name", name}, {"type", field.type.str()}, {"required", field.required}};
  if (!field.required) one["default"] = nlohmann::json::parse(to_json(field.default_value));
  if (!field.check.str().empty()) one["range"] = field.check.str();
  one["doc"] = field.doc;
  return one;
}

}  // namespace

std::string describe_section(const std::string& path, size_t width) {
  const std::vector<Setting> found = settings(path);
  if (found.empty()) return "";
  TextTable table({"setting", "type", "range", "default", "meaning"});
  for (const auto& [name, f] : found) table.add({name, f.type.str(), f.check.str(), default_text(f), f.doc});
  return table.str(width);
}

std::string describe_section_json(const std::string& path) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [name, field] : settings(path)) all.push_back(as_json(name, field));
  return all.empty() ? "" : all.dump(1);
}

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
  for (const Setting& setting : settings()) known.push_back(setting.path);
  throw ConfigError("unknown component or section '" + name + "'" + did_you_mean(name, known) +
                    "; `tpack list` lists all components");
}

std::string source_file(const ComponentInfo& info) {
  std::string path = info.file;  // from the build folder, or from the root
  while (path.starts_with("../")) path.erase(0, 3);
  const size_t lib = path.rfind("/lib/");
  return lib == std::string::npos ? path : path.substr(lib + 1);
}

std::string describe(const ComponentInfo& info, size_t width) {
  std::string text = info.name + " (" + info.kind + ")";
  if (!info.aliases.empty()) text += ", also " + join(info.aliases, ", ");
  for (const Variant& variant : info.variants)
    text += std::string("; ") + variant.name + " has " + variant.field + ": " + variant.value;
  text += "\n" + (width == 0 ? info.summary() : join(wrapped(info.summary(), width), "\n")) + "\n";
  if (const std::string example = info.example(); !example.empty())
    text += "\nExample:\n  " + join(split(example, '\n'), "\n  ") + "\n";
  std::vector<FieldInfo> fields = info.fields();
  if (info.kind == Layer::kKind) {
    for (FieldInfo& field : common_layer_fields()) fields.push_back(std::move(field));
  }
  for (FieldInfo& field : info.common_fields()) fields.push_back(std::move(field));
  if (fields.empty()) return text + "\nNo parameters.\n";
  TextTable table({"parameter", "type", "range", "default", "meaning"});
  for (const FieldInfo& f : fields) table.add({f.name, f.type.str(), f.check.str(), default_text(f), f.doc});
  return text + "\n" + table.str(width);
}

std::string describe_json(const ComponentInfo& info) {
  nlohmann::ordered_json root = {{"kind", info.kind},
                                 {"name", info.name},
                                 {"aliases", info.aliases},
                                 {"summary", info.summary()},
                                 {"example", info.example()},
                                 {"source", source_file(info)},
                                 {"parameters", nlohmann::ordered_json::array()}};
  for (const FieldInfo& field : info.fields()) root["parameters"].push_back(as_json(field.name, field));
  for (const Variant& variant : info.variants)
    root["variants"].push_back({{"name", variant.name}, {variant.field, variant.value}});
  return root.dump(1);
}

}  // namespace tpack
