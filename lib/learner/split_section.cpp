#include "learner/split_section.h"

#include <algorithm>

#include "core/registry.h"
#include "dataflow/source.h"
#include "sources/split_settings.h"

namespace tpack {
namespace {

/// The components of a flow in its list form or as {flow: [...]}; null for the name of another flow.
const ConfigNode* items_of(const ConfigNode& flow) {
  const ConfigNode* list = flow.is_map() ? flow.find("flow") : &flow;
  return list != nullptr && list->is_list() ? list : nullptr;
}

bool begins_with_source(const ConfigNode& list) {
  if (list.size() == 0) return false;
  const ConfigNode& first = list.items()[0];
  const std::string name = first.is_map() && first.size() == 1 ? first.entries()[0].key
                           : first.is_string()                 ? first.text()
                                                               : "";
  return ComponentTable::of(Source::kKind).find(name) != nullptr;
}

/// The flow with another list.
ConfigNode with_items(const ConfigNode& flow, std::vector<ConfigNode> items) {
  ConfigNode list = ConfigNode::list(std::move(items), items_of(flow)->position());
  return flow.is_map() ? flow.with("flow", std::move(list)) : list;
}

/// `SplitData: {source: ..., part: ..., and the settings of `split`}`.
ConfigNode part_of(const ConfigNode& source, const std::string& part, const ConfigNode& split) {
  std::vector<ConfigNode::Entry> entries = {
      {"source", source, source.position()},
      {"part", ConfigNode::string(part, split.position()), split.position()}};
  entries.insert(entries.end(), split.entries().begin(), split.entries().end());
  return ConfigNode::map(
      {{"SplitData", ConfigNode::map(std::move(entries), split.position()), source.position()}},
      source.position());
}

}  // namespace

void apply_split(ModelConfig& config, Diagnostics& errors) {
  if (config.split.is_null()) return;
  const ConfigNode given = std::exchange(config.split, ConfigNode());
  const ConfigNode split =
      given.is_map() ? given : ConfigNode::map({{"shares", given, given.position()}}, given.position());
  const size_t before = errors.count();
  const SplitSettings settings = split_settings_schema().parse(split, "split", errors);
  if (errors.count() != before) return;
  const auto train = config.data.find(kTrainPart);
  const ConfigNode* list = train == config.data.end() ? nullptr : items_of(train->second);
  if (list == nullptr || !begins_with_source(*list)) {
    errors.add(
        given.position(),
        "split divides the source of data.train, but data.train has no source; write train: [SOURCE, ...]");
    return;
  }
  const ConfigNode source = list->items()[0];
  std::vector<std::string> parts;
  for (auto& [name, flow] : config.data) {
    const ConfigNode* old = items_of(flow);
    if (old == nullptr || (name != kTrainPart && begins_with_source(*old))) continue;
    std::vector<ConfigNode> items(old->items().begin() + (name == kTrainPart ? 1 : 0), old->items().end());
    items.insert(items.begin(), part_of(source, name, split));
    flow = with_items(flow, std::move(items));
    parts.push_back(name);
  }
  const auto require_flow = [&](const std::string& part, const Position& where) {
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) return;
    const bool has_source = config.data.contains(part);
    errors.add(where, has_source
                          ? "data." + part +
                                " has its own source; remove it to use the part of the source of data.train"
                          : "no flow uses the part '" + part + "'; write one without a source, as " + part +
                                ": [BatchData: 100] in `data`");
  };
  for (const PartShare& one : settings.shares.value_or(std::vector<PartShare>()))
    require_flow(one.part, one.position);
  if (!settings.shares && settings.column.empty()) require_flow(kFoldPart, given.position());
  if (settings.shares && settings.folds > 0) require_flow(kFoldPart, given.position());
}

}  // namespace tpack
