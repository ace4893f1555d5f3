#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_node.h"
#include "core/position.h"
#include "core/structure.h"

namespace tpack {

/// How a path addresses the items of a list: by number (from 0), by the component's `name:`, by the
/// component, or by the name of an unnamed item in reports (conv2d_0), in this order.
struct ItemMatches {
  std::vector<size_t> items;  // one: found; none: unknown; more: ambiguous
};
ItemMatches matching_items(const ConfigNode& list, std::string_view word);
/// The single item. Errors: ConfigError at `where` with the items of the list and how to add one; `path` is
/// the path of the list.
size_t item_index(const ConfigNode& list, const std::string& word, const std::string& path,
                  const Position& where);

/// The parameters of a component item: the map of `Name: {...}`; empty for `Name` alone and if it is not a
/// component.
std::optional<ConfigNode> item_params(const ConfigNode& item);
/// The component of an item; empty if it is not a component.
std::string item_component(const ConfigNode& item);
/// True for a word below an item's number that is the name of another component, not a parameter of the
/// item: components begin with a capital, parameters do not.
bool is_other_component(const ConfigNode& item, const std::string& word);

/// The value at a dotted path.
struct Found {
  ConfigNode node;
  std::vector<std::string> place = {};  // only keys and numbers: the same for every spelling of the path
  FieldType type = {};
};

/// Follows a path of words through maps and component lists (`data.train.BatchData.batch_size`), in a value
/// of type `root`. A section that can be written as a list (`{flow: [...], workers: 2}`) is skipped in the
/// path. Empty if the path does not exist or is ambiguous.
std::optional<Found> find_path(const Found& root, const std::vector<std::string>& words);

/// The possible next words at a value: keys of a map, names and components of a list; both for a section that
/// can be written as a list.
std::vector<std::string> words_at(const ConfigNode& node, const FieldType& type);

/// The longest existing prefix of a path.
std::vector<std::string> leading_part(const Found& root, const std::vector<std::string>& words);

/// Suggestions for a path that does not exist: existing paths with wrong words replaced or removed, or a word
/// inserted.
std::vector<std::string> paths_near(const Found& root, std::vector<std::string> words);

}  // namespace tpack
