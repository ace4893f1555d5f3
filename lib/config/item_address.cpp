#include "config/item_address.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <span>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

std::string item_name(const ConfigNode& item) {
  const auto params = item_params(item);
  const ConfigNode* name = params ? params->find("name") : nullptr;
  return name != nullptr && name->is_string() ? name->text() : "";
}

std::optional<size_t> number(std::string_view word) {
  size_t value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = failure == std::errc{} && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// "0 Conv2D (conv0)".
std::string described(const ConfigNode& list, size_t index, const char* between = " ") {
  const ConfigNode& item = list.items()[index];
  const std::string name = item_name(item);
  return std::to_string(index) + between + item_component(item) + (name.empty() ? "" : " (" + name + ")");
}

/// How to add an item instead, for an option and for a file.
std::string how_to_append(const std::string& path, const Position& where) {
  const bool is_option = where.known() && where.line == 0;
  if (is_option) return "; to add an item, write --set '" + path + "=!append [ITEM]'";
  return "; to add an item, write '" + path.substr(path.rfind('.') + 1) + ": !append [ITEM]'";
}

std::string unknown_item(const ConfigNode& list, const std::string& word, const std::string& path,
                         const Position& where) {
  const std::vector<std::string> known = words_at(list, {});
  std::string text = "no item '" + word + "' in '" + path + "'";
  const bool by_number = number(word).has_value();
  if (!by_number && nearest(word, known)) return text + did_you_mean(word, known);
  if (by_number) {
    std::vector<std::string> items;
    for (size_t i = 0; i < list.size(); ++i) items.push_back(described(list, i, ": "));
    text += items.empty() ? "; the list is empty" : "; the items are " + join_first(items);
  } else {
    text += known.empty() ? "; it has no components" : "; it has " + join(known, ", ");
  }
  return text + how_to_append(path, where);
}

/// Paths that exist after a correction of the words after `before`: the first few removed, the first replaced
/// by a similar one of `next`, or one of `next` inserted.
std::vector<std::string> corrected_paths(const Found& root, const std::vector<std::string>& before,
                                         const std::vector<std::string>& next,
                                         const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  const auto try_with = [&](const std::vector<std::string>& middle, size_t rest) {
    std::vector<std::string> path = before;
    path.insert(path.end(), middle.begin(), middle.end());
    path.insert(path.end(), words.begin() + static_cast<ptrdiff_t>(rest), words.end());
    if (find_path(root, path)) paths.push_back(join(path, "."));
  };
  const size_t wrong = before.size();
  for (size_t rest = wrong + 1; rest < words.size(); ++rest) try_with({}, rest);
  for (const std::string& word : next) {
    try_with({word}, wrong);
    if (nearest(words[wrong], std::span(&word, 1))) try_with({word}, wrong + 1);
  }
  return paths;
}

/// Takes the words of one step, such as an item of a list, starting at `at`.
bool step_into_item(const std::vector<std::string>& words, size_t& at, Found& found) {
  const ItemMatches matches = matching_items(found.node, words[at]);
  if (matches.items.size() != 1) return false;
  const ConfigNode item = found.node.items()[matches.items[0]];
  found.place.push_back(std::to_string(matches.items[0]));
  const std::string component = item_component(item);
  const bool by_number = number(words[at]).has_value();
  found.type = type_below(form_of(found.type, found.node), words[at]);
  ++at;
  const bool stays = by_number && (at == words.size() || words[at] == component);
  const auto params = item_params(item);
  if (stays || component.empty() || !params) {
    found.node = item;
    return true;
  }
  found.place.push_back(component);
  found.type = type_below(form_of(found.type, item), component);
  found.node = *params;
  return true;
}

}  // namespace

std::string item_component(const ConfigNode& item) {
  if (item.is_string()) return item.text();
  return item.is_map() && item.size() == 1 ? item.entries()[0].key : "";
}

std::optional<ConfigNode> item_params(const ConfigNode& item) {
  if (!item.is_map() || item.size() != 1) return std::nullopt;
  return item.entries()[0].value;
}

bool is_other_component(const ConfigNode& item, const std::string& word) {
  const std::string component = item_component(item);
  const bool capital = !word.empty() && std::isupper(static_cast<unsigned char>(word[0])) != 0;
  const auto params = item_params(item);
  const bool is_param = params && params->find(word) != nullptr;
  return capital && !component.empty() && word != component && !is_param;
}

ItemMatches matching_items(const ConfigNode& list, std::string_view word) {
  ItemMatches by_name;
  ItemMatches by_component;
  ItemMatches by_default_name;  // conv2d_0, the name of an unnamed item in reports
  std::map<std::string, int> unnamed;
  if (const auto index = number(word); index && *index < list.size()) return {{*index}};
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = item_name(list.items()[i]);
    const std::string component = item_component(list.items()[i]);
    if (name == word) by_name.items.push_back(i);
    if (component == word) by_component.items.push_back(i);
    if (!name.empty() || component.empty()) continue;
    const std::string type = snake_case(component);
    if (type + "_" + std::to_string(unnamed[type]++) == word) by_default_name.items.push_back(i);
  }
  if (!by_name.items.empty()) return by_name;
  return by_component.items.empty() ? by_default_name : by_component;
}

size_t item_index(const ConfigNode& list, const std::string& word, const std::string& path,
                  const Position& where) {
  const ItemMatches matches = matching_items(list, word);
  if (matches.items.size() == 1) return matches.items[0];
  if (matches.items.empty()) throw ConfigError(where, unknown_item(list, word, path, where));
  std::vector<std::string> candidates;
  for (const size_t index : matches.items) candidates.push_back(described(list, index));
  throw ConfigError(where, "'" + word + "' is ambiguous in '" + path + "': it could be " +
                               join(candidates, ", ") + "; use its number or name");
}

std::vector<std::string> words_at(const ConfigNode& node, const FieldType& type) {
  std::vector<std::string> words;
  for (const ConfigNode::Entry& entry : node.entries()) words.push_back(entry.key);
  const ConfigNode* list = shorthand_list(form_of(type, node), node);
  for (const ConfigNode& item : list != nullptr ? list->items() : node.items()) {
    for (const std::string& word : {item_name(item), item_component(item)}) {
      const bool is_new = std::find(words.begin(), words.end(), word) == words.end();
      if (!word.empty() && is_new) words.push_back(word);
    }
  }
  return words;
}

std::vector<std::string> leading_part(const Found& root, const std::vector<std::string>& words) {
  std::vector<std::string> before;
  for (const std::string& word : words) {
    before.push_back(word);
    if (find_path(root, before)) continue;
    before.pop_back();
    break;
  }
  return before;
}

std::vector<std::string> paths_near(const Found& root, std::vector<std::string> words) {
  std::vector<std::string> paths;
  // A round corrects the first wrong word; the next round finds another after it.
  for (size_t rounds = words.size(); rounds > 0 && paths.empty(); --rounds) {
    const std::vector<std::string> before = leading_part(root, words);
    const auto node = find_path(root, before);
    if (before.size() == words.size() || !node) break;
    const std::vector<std::string> next = words_at(node->node, node->type);
    paths = corrected_paths(root, before, next, words);
    const auto meant = nearest(words[before.size()], next);
    if (!meant) break;
    words[before.size()] = *meant;
  }
  return paths;
}

std::optional<Found> find_path(const Found& root, const std::vector<std::string>& words) {
  Found found{root.node, {}, root.type};
  for (size_t at = 0; at < words.size();) {
    if (found.node.is_list()) {
      if (!step_into_item(words, at, found)) return std::nullopt;
      continue;
    }
    const FieldType form = form_of(found.type, found.node);
    const ConfigNode* next = found.node.find(words[at]);
    const ConfigNode* list = next == nullptr ? shorthand_list(form, found.node) : nullptr;
    if (next == nullptr && list == nullptr) return std::nullopt;
    const std::string word = next != nullptr ? words[at++] : form.shorthand;
    found.place.push_back(word);
    found.node = ConfigNode(next != nullptr ? *next : *list);
    found.type = type_below(form, word);
  }
  return found;
}

}  // namespace tpack
