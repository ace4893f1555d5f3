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

/// How a path names the items of a list: by number (from 0), by the `name:` among a component's parameters,
/// by the component, or by the name that reports have for an item without one (conv2d_0), in this order.
struct ItemMatches {
  std::vector<size_t> items;  // one: found; none: unknown; more: ambiguous
};
ItemMatches matching_items(const ConfigNode& list, std::string_view word);
/// The one item. Errors: ConfigError at `where`, saying what the list has and how to add an item; `path` is
/// the list's.
size_t item_index(const ConfigNode& list, const std::string& word, const std::string& path,
                  const Position& where);

/// What a component item has besides its name: `Name: {...}` gives the map; empty for `Name` alone and for
/// what is not a component.
std::optional<ConfigNode> item_params(const ConfigNode& item);
/// The component of an item, empty if it is none.
std::string item_component(const ConfigNode& item);
/// True for a word below an item's number that is the name of another component, not a parameter of the
/// item: components begin with a capital, parameters do not.
bool is_other_component(const ConfigNode& item, const std::string& word);

/// A value that a dotted path leads to.
struct Found {
  ConfigNode node;
  std::vector<std::string> place = {};  // keys and numbers only: the same for every way to write the path
  FieldType type = {};
};

/// Follows a path of words through maps and component lists (`data.train.BatchData.batch_size`), in a value
/// of the type that `root` says. A section that can be written as a list alone (`{flow: [...], workers: 2}`)
/// is passed through. Empty where the path leads nowhere or is ambiguous.
std::optional<Found> find_path(const Found& root, const std::vector<std::string>& words);

/// The words that may follow at a value: keys of a map, names and components of a list; of a section that can
/// be written as a list alone both.
std::vector<std::string> words_at(const ConfigNode& node, const FieldType& type);

/// The longest beginning of a path that leads somewhere.
std::vector<std::string> leading_part(const Found& root, const std::vector<std::string>& words);

/// Paths that may have been meant by one that leads nowhere, for suggestions. Each of them leads somewhere;
/// wrong words are changed or left out, or one is put in.
std::vector<std::string> paths_near(const Found& root, std::vector<std::string> words);

}  // namespace tpack
