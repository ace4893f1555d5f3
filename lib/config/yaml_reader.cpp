#include "config/yaml_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "core/error.h"
#include "core/expression.h"
#include "core/text.h"

namespace tpack {
namespace {

/// A finished value with the cost of using it again.
struct Counted {
  ConfigNode node;
  size_t nodes = 1;
  int depth = 1;
};

/// A list or map that is being read.
struct Frame {
  bool is_map = false;
  Position where;
  std::string tag;
  YAML::anchor_t anchor = 0;
  size_t nodes = 1;
  int depth = 1;
  std::vector<ConfigNode> items;
  std::vector<ConfigNode::Entry> entries;
  std::unordered_map<std::string, Position> keys;
  bool has_key = false;  // of a map: the next value belongs to entries.back()
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const YamlText& source, NodeBudget& budget) : source_(source), budget_(budget) {}

  ConfigNode take_root() {
    if (documents_ == 0) throw ConfigError(source_.position(0), "is empty");
    if (bad_key_) throw ConfigError(*bad_key_, "a key must be a word, a number or a string");
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw ConfigError(at(mark),
                        "a second YAML document starts here; a config is one document (remove the '---')");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const bool after_key = !stack_.empty() && stack_.back().has_key;
    const Position where = after_key ? stack_.back().entries.back().key_position : at(mark);
    budget_.take(1, where);
    add({is_lone_delete(mark) ? ConfigNode::null(where).with_tag(kDeleteTag) : ConfigNode::null(where)},
        anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    if (tag == kDeleteTag) reject_content(mark);
    begin(mark, tag, anchor, /*is_map=*/false);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    if (tag == kDeleteTag) reject_content(mark);
    if (tag == kAppendTag)
      throw ConfigError(at(mark), "'!append' needs a list, found a map; write !append [ITEM], with brackets");
    begin(mark, tag, anchor, /*is_map=*/true);
  }
  void OnMapEnd() override { end(); }

 private:
  Position at(const YAML::Mark& mark) const { return source_.position(static_cast<size_t>(mark.pos)); }
  /// yaml-cpp drops the tag of an empty value that ends the document.
  bool is_lone_delete(const YAML::Mark& mark) const {
    return stack_.empty() && mark.pos >= 0 &&
           trim(std::string_view(source_.text()).substr(static_cast<size_t>(mark.pos))) == kDeleteTag;
  }
  [[noreturn]] void reject_content(const YAML::Mark& mark) const {
    throw ConfigError(at(mark), "'!delete' takes no value; write KEY: !delete");
  }
  bool expects_key() const { return !stack_.empty() && stack_.back().is_map && !stack_.back().has_key; }
  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, bool is_map);
  void end();
  void add(Counted value, YAML::anchor_t anchor);
  void add_key(const ConfigNode& key);
  std::string merge_tag(const std::string& tag, const Position& where) const;

  const YamlText& source_;
  NodeBudget& budget_;
  int documents_ = 0;
  ConfigNode root_;
  std::vector<Frame> stack_;
  std::optional<Position>
      bad_key_;  // reported at the end: an open bracket also makes such keys, and has a better error
  std::unordered_map<YAML::anchor_t, Counted> anchors_;  // finished ones
};

/// "" for YAML's own marks ("?" plain, "!" not plain).
std::string TreeBuilder::merge_tag(const std::string& tag, const Position& where) const {
  if (tag.empty() || tag == "?" || tag == "!") return "";
  if (tag == kAppendTag || tag == kDeleteTag) return tag;
  throw ConfigError(where, "unknown tag '" + tag + "'; known: !append, !delete");
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const auto offset = static_cast<size_t>(mark.pos);
  const std::string kept = merge_tag(tag, source_.position(offset));
  if (kept == kAppendTag)
    throw ConfigError(source_.position(offset),
                      "'!append' needs a list; write !append [ITEM], with brackets");
  if (kept == kDeleteTag && !ConfigNode::plain(value, {}).is_null()) reject_content(mark);
  const size_t content = kept.empty() ? source_.skip_properties(offset) : offset;
  const Position where = source_.position(content);
  budget_.take(1, where);
  if (tag == "!" && source_.style_at(content) == ConfigNode::Style::kQuoted && !source_.quote_ends(content)) {
    throw ConfigError(where, "not valid YAML: this string has no closing quote");
  }
  if (value.find('\0') != std::string::npos)
    throw ConfigError(where, "this string has a NUL character (\\0)");
  ConfigNode node = tag == "!" ? ConfigNode::string(value, where, source_.style_at(content))
                               : ConfigNode::plain(value, where);
  if (expects_key() && tag == "?" && value == "<<") {
    throw ConfigError(
        where,
        "merge keys '<<' are not supported; put shared values into 'vars' and write $(vars.NAME), "
        "or use 'include'");
  }
  add({kept.empty() ? node : node.with_tag(kept)}, anchor);
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) throw ConfigError(at(mark), "this alias refers to a value that contains it");
  budget_.take(found->second.nodes, at(mark));
  if (static_cast<int>(stack_.size()) + found->second.depth > kMaxYamlDepth) {
    throw ConfigError(at(mark), "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
  }
  add(found->second, 0);
}

void TreeBuilder::begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, bool is_map) {
  Frame frame;
  frame.tag = merge_tag(tag, at(mark));
  frame.where = source_.position(source_.skip_properties(static_cast<size_t>(mark.pos)));
  frame.is_map = is_map;
  frame.anchor = anchor;
  budget_.take(1, frame.where);
  if (static_cast<int>(stack_.size()) >= kMaxYamlDepth) {
    throw ConfigError(frame.where, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
  }
  stack_.push_back(std::move(frame));
}

void TreeBuilder::end() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  ConfigNode node = frame.is_map ? ConfigNode::map(std::move(frame.entries), frame.where)
                                 : ConfigNode::list(std::move(frame.items), frame.where);
  if (!frame.tag.empty()) node = node.with_tag(frame.tag);
  add({std::move(node), frame.nodes, frame.depth}, frame.anchor);
}

void TreeBuilder::add(Counted value, YAML::anchor_t anchor) {
  if (anchor != 0) anchors_[anchor] = value;
  if (stack_.empty()) {
    root_ = std::move(value.node);
    return;
  }
  Frame& frame = stack_.back();
  frame.nodes += value.nodes;
  frame.depth = std::max(frame.depth, value.depth + 1);
  if (!frame.is_map) {
    frame.items.push_back(std::move(value.node));
  } else if (!frame.has_key) {
    add_key(value.node);
  } else {
    frame.entries.back().value = std::move(value.node);
    frame.has_key = false;
  }
}

void TreeBuilder::add_key(const ConfigNode& key) {
  Frame& frame = stack_.back();
  frame.has_key = true;
  if (!key.is_scalar() || key.is_null() || !key.tag().empty()) {
    if (!bad_key_) bad_key_ = key.position();
    frame.entries.push_back({"", {}, key.position()});
    return;
  }
  const auto [first, is_new] = frame.keys.emplace(key.text(), key.position());
  if (!is_new) {
    throw ConfigError(key.position(),
                      "duplicate key '" + key.text() + "'; first defined at " + first->second.str());
  }
  frame.entries.push_back({key.text(), {}, key.position()});
}

/// The library's message in words for users; unchanged if there is no better one.
std::string explained(const std::string& message) {
  static const std::map<std::string, std::string> kMeanings = {
      {"illegal map value",
       "a string that contains ':' needs quotes; between a key and its value are a ':' and a space"},
      {"illegal flow end", "unmatched closing bracket"},
      {"end of map not found", "the indentation does not match the lines above"},
      {"end of sequence not found", "the indentation does not match the lines above"},
      {"end of map flow not found", "a '{' has no closing '}'"},
      {"end of sequence flow not found", "a '[' has no closing ']'"},
      {"the referenced anchor is not defined", "undefined alias; define it above with '&NAME'"},
  };
  const auto found = kMeanings.find(message);
  return found == kMeanings.end() ? message : found->second;
}

}  // namespace

void NodeBudget::take(size_t nodes, const Position& where) {
  if (nodes > left_) {
    throw ConfigError(where, "the config has more than " + std::to_string(kMaxNodes) +
                                 " values (each use of an alias counts)");
  }
  left_ -= nodes;
}

ConfigNode parse_yaml(const YamlText& source, NodeBudget& budget) {
  TreeBuilder builder(source, budget);
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const size_t braced = std::min(source.text().find("${"), source.text().size());
    const size_t offset = error.mark.is_null() ? 0 : static_cast<size_t>(error.mark.pos);
    throw ConfigError(source.position(offset), "not valid YAML: " + explained(error.msg) +
                                                   environment_hint(source.text().substr(braced)));
  }
  return builder.take_root();
}

ConfigNode parse_yaml(const std::string& text, const std::string& name) {
  NodeBudget budget;
  return parse_yaml(YamlText::of_string(text, name), budget);
}

}  // namespace tpack
