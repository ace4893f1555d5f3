#include "config/resolve.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/item_address.h"
#include "core/substitute.h"
#include "core/text.h"

namespace tpack {
namespace {

/// Resolves values on demand; each address (keys and numbers, dotted) is resolved once.
class Resolver final : public Scope {
 public:
  Resolver(const ConfigNode& root, const FieldType& structure, Diagnostics& errors)
      : root_{root, {}, structure}, errors_(errors) {}

  ConfigNode resolved_root() { return resolved_or_reported(root_.node, "", root_.type); }
  std::optional<ConfigNode> lookup(const std::string& name) const override;
  std::vector<std::string> known_names(const std::string& name) const override;

 private:
  ConfigNode resolved_or_reported(const ConfigNode& node, const std::string& place, const FieldType& type);
  ConfigNode resolved(const ConfigNode& node, const std::string& place, const FieldType& type) const;
  ConfigNode resolved_text(const ConfigNode& node, const std::string& place, BareNames bare) const;
  std::optional<Found> find(const std::string& name) const;
  bool waits_for_us(const std::string& name) const;
  void charge(const ConfigNode& node, const Position& where) const;
  [[noreturn]] void give_up(const Position& where, const std::string& why) const;

  Found root_;
  Diagnostics& errors_;
  // A look-up may first resolve the value that it finds; that changes no value.
  mutable std::map<std::string, ConfigNode> done_;
  mutable size_t nodes_ = 0;      // inserted by expressions
  mutable size_t bytes_ = 0;      // of strings among them
  mutable bool gave_up_ = false;  // a limit was reached: one error says so
  mutable std::vector<std::pair<std::string, Position>>
      active_;  // address and text of the values being resolved
};

/// The text is the same for every entry into the cycle: it begins at its first position in the file.
ConfigError cycle(std::vector<std::pair<std::string, Position>> links) {
  const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::rotate(links.begin(), std::min_element(links.begin(), links.end(), earlier), links.end());
  std::string text = "circular reference: ";
  for (const auto& [place, where] : links) text += place + " -> ";
  return {links[0].second, text + links[0].first};
}

std::string joined(const std::string& place, const std::string& word) {
  return place.empty() ? word : place + "." + word;
}

/// `type` is the type of the node; names of its owner are not checked further down.
template <class F>
ConfigNode with_children(const ConfigNode& node, const std::string& place, const FieldType& type, F&& child) {
  static const FieldType kOwned = FieldType{}.owning_names();
  const FieldType form = type.owns_names ? kOwned : form_of(type, node);
  if (node.is_map()) {
    std::vector<ConfigNode::Entry> entries;
    for (const auto& [key, value, where] : node.entries()) {
      entries.push_back({key, child(value, joined(place, key), type_below(form, key)), where});
    }
    return ConfigNode::map(std::move(entries), node.position());
  }
  std::vector<ConfigNode> items;
  for (size_t i = 0; i < node.size(); ++i) {
    const std::string number = std::to_string(i);
    items.push_back(child(node.items()[i], joined(place, number), type_below(form, number)));
  }
  return ConfigNode::list(std::move(items), node.position());
}

ConfigNode Resolver::resolved_or_reported(const ConfigNode& node, const std::string& place,
                                          const FieldType& type) {
  if (!node.is_scalar()) {
    return with_children(node, place, type, [this](const auto& n, const auto& p, const auto& t) {
      return resolved_or_reported(n, p, t);
    });
  }
  if (gave_up_) return node;
  try {
    return resolved(node, place, type);
  } catch (const ConfigError& error) {
    errors_.add(error, node.position());
    return node;
  }
}

ConfigNode Resolver::resolved(const ConfigNode& node, const std::string& place, const FieldType& type) const {
  if (!node.is_scalar()) {
    return with_children(node, place, type,
                         [this](const auto& n, const auto& p, const auto& t) { return resolved(n, p, t); });
  }
  const BareNames bare = type.owns_names ? BareNames::kLeave : BareNames::kResolve;
  return node.has_expression() ? resolved_text(node, place, bare) : node;
}

ConfigNode Resolver::resolved_text(const ConfigNode& node, const std::string& place, BareNames bare) const {
  if (const auto known = done_.find(place); known != done_.end()) return known->second;
  const auto again =
      std::find_if(active_.begin(), active_.end(), [&](const auto& a) { return a.first == place; });
  if (again != active_.end()) {
    throw cycle({again, active_.end()});
  }
  constexpr size_t kMaxChain = 200;  // each link is several calls deep
  if (active_.size() == kMaxChain)
    give_up(node.position(),
            "a chain of more than 200 values, each of which refers to the next one, ends here");
  struct Active {
    std::vector<std::pair<std::string, Position>>& stack;
    ~Active() { stack.pop_back(); }
  };
  active_.emplace_back(place, node.position());
  const Active active{active_};
  ConfigNode value = substitute_text(node, *this, bare);
  charge(value, node.position());
  done_.emplace(place, value);
  return value;
}

/// Counts the values that an expression inserts: lists of lists of lists would grow without bound, and so
/// would many long strings.
void Resolver::charge(const ConfigNode& node, const Position& where) const {
  constexpr size_t kMaxNodes = 100000;
  if (++nodes_ > kMaxNodes) give_up(where, "the expressions expand the config to more than 100,000 values");
  constexpr size_t kMaxBytes = 16'000'000;
  if (node.is_string() && (bytes_ += node.text().size()) > kMaxBytes)
    give_up(where, "the expressions expand the config by more than 16 MB of text");
  for (const ConfigNode& item : node.is_list() ? node.items() : std::span<const ConfigNode>())
    charge(item, where);
  if (!node.is_map()) return;
  for (const ConfigNode::Entry& entry : node.entries()) charge(entry.value, where);
}

void Resolver::give_up(const Position& where, const std::string& why) const {
  gave_up_ = true;
  throw ConfigError(where, why);
}

std::optional<Found> Resolver::find(const std::string& name) const {
  const std::vector<std::string> words = split(name, '.');
  std::vector<std::string> in_vars = words;
  in_vars.insert(in_vars.begin(), "vars");
  const bool bare = words.size() == 1;
  if (auto found = find_path(root_, bare ? in_vars : words)) return found;
  return find_path(root_, bare ? words : in_vars);
}

std::optional<ConfigNode> Resolver::lookup(const std::string& name) const {
  const auto found = find(name);
  if (!found) return std::nullopt;
  ConfigNode value = resolved(found->node, join(found->place, "."), found->type);
  if (value.holds_expression()) {
    throw ConfigError(
        "the value of '" + name +
        "' uses names without a dot, which are known only in the layers; write them there as $(vars.NAME)");
  }
  return value;
}

/// True for a name whose value is, or contains, the value being resolved: using it would be a cycle.
bool Resolver::waits_for_us(const std::string& name) const {
  const auto found = find(name);
  const std::string inside = found ? join(found->place, ".") + "." : "";
  return found && std::any_of(active_.begin(), active_.end(),
                              [&](const auto& active) { return (active.first + ".").starts_with(inside); });
}

std::vector<std::string> Resolver::known_names(const std::string& name) const {
  const std::vector<std::string> words = split(name, '.');
  std::vector<std::string> names = paths_near(root_, words);
  if (const auto vars = find_path(root_, {"vars"})) {
    for (std::string& path : paths_near(*vars, words)) names.push_back(std::move(path));
  }
  std::erase_if(names, [this](const std::string& known) { return waits_for_us(known); });
  return names;
}

}  // namespace

ConfigNode resolve_expressions(const ConfigNode& config, const FieldType& structure, Diagnostics& errors) {
  return Resolver(config, structure, errors).resolved_root();
}

}  // namespace tpack
