#include "records/record_source.h"

#include <algorithm>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/fitted_data.h"
#include "fields/file_patterns.h"
#include "image/format/image_formats.h"
#include "system/file_io.h"

namespace tpack {
namespace {

ConfigNode node_of(const nlohmann::ordered_json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return ConfigNode::string(value.get<std::string>(), {}, ConfigNode::Style::kQuoted);
  if (value.is_null()) return {};
  std::vector<ConfigNode> items;
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      items.push_back(node_of(item));
    } else {
      entries.push_back({key, node_of(item)});
    }
  }
  return value.is_array() ? ConfigNode::list(std::move(items)) : ConfigNode::map(std::move(entries));
}

/// The first image and the first number among the fields, as components.
std::string suggestion(const RecordFields& record) {
  std::string image = "FIELD";
  std::string label = "FIELD";
  for (const RecordFields::Field& field : record.all()) {
    const bool is_image = image_format_of(field.value.bytes) != nullptr;
    const bool is_label = field.name.find("label") != std::string_view::npos || field.name == "cls";
    if (is_image && image == "FIELD") image = field.name;
    if (is_label && label == "FIELD" && field.value.kind == RecordValue::Kind::kArray) label = field.name;
  }
  return "{image: " + printable(image) + ", label: " + printable(label) + "}";
}

}  // namespace

RecordSource::RecordSource(std::string owner, RecordParams params)
    : owner_(std::move(owner)), params_(std::move(params)) {}

int64_t RecordSource::block() const {
  constexpr uint64_t kLarge = uint64_t{8} << 30U;
  constexpr int64_t kTogether = 64;
  return params_.block.value_or(bytes() > kLarge ? kTogether : 1);
}

/// The types come from some evenly spaced records; damaged ones are found when they are read. If sizes
/// differ, they are unknown. Reading all could take an hour, so another size is only noticed by the batch
/// that it does not fit into.
void RecordSource::prepare() {
  open();
  constexpr int64_t kMostProbes = 16;
  const int64_t probes = std::min(size(), kMostProbes);
  RecordFields record;
  std::string first_error;
  bool is_known = false;
  components_ = {};
  for (int64_t i = 0; i < probes; ++i) {
    const int64_t index = probes == 1 ? 0 : i * (size() - 1) / (probes - 1);
    record.clear();
    try {
      read(index, record);
      if (components_.wanted().empty()) {
        std::vector<ComponentOfField> wanted = params_.components;
        if (wanted.empty()) wanted = described_components(first_file());
        if (wanted.empty()) wanted = guess(record);
        if (wanted.empty())
          throw ConfigError(owner_ + ": set 'components', such as " + suggestion(record) + "; " +
                            file_of(index) + " has the fields " + record.describe());
        components_ = RecordComponents(std::move(wanted));
      }
      components_.look(record);
      is_known = true;
    } catch (const DataError& error) {
      if (first_error.empty()) first_error = file_of(index) + ": " + error.what();
    }
  }
  if (!is_known) throw DataError(first_error);
  const Spec found = components_.spec();
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].classes.empty()) continue;
    const auto train = opened_fit(found[i].name);
    if (train && !train->classes.empty()) components_.follow(i, train->classes);
  }
}

std::vector<FittedComponent> RecordSource::fitted() const {
  std::vector<FittedComponent> all;
  for (const ComponentSpec& component : components_.spec())
    if (!component.classes.empty()) all.push_back({name(), component.name, {}, component.classes});
  return all;
}

void RecordSource::get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const {
  thread_local RecordFields record;  // keeps its memory
  record.clear();
  try {
    read(index, record);
    components_.fill(record, file_of(index), out);
  } catch (const FileError&) {
    throw;
  } catch (const DataError& error) {
    throw FileError(file_of(index), error.what());
  }
}

std::string description_path(const std::string& path) { return path + kComponentsEnding; }

std::vector<ComponentOfField> described_components(const std::string& path) {
  const std::string name = description_path(path);
  if (::access(name.c_str(), F_OK) != 0) return {};
  const auto text = read_whole_file(name);
  const auto root = nlohmann::ordered_json::parse(text.value_or(""), nullptr, false);
  Diagnostics errors;
  Reader reader("'components'", {}, errors);
  std::optional<std::vector<ComponentOfField>> all;
  if (root.is_object() && root.contains("components"))
    all = Codec<std::vector<ComponentOfField>>::parse(node_of(root["components"]), reader);
  if (!all || all->empty())
    throw DataError(name, "is not a description of records; remove it, and set 'components'");
  return std::move(*all);
}

void write_description(const std::string& path, const std::vector<ComponentOfField>& components) {
  const ConfigNode root({{"components", Codec<std::vector<ComponentOfField>>::dump(components)}});
  write_whole_file(description_path(path), to_json(root) + "\n");
}

}  // namespace tpack
