#include "table/csv_missing.h"

#include <algorithm>
#include <array>

namespace tpack {
namespace {

using By = MissingRule::By;

constexpr std::array<std::pair<const char*, By>, 3> kFitted = {
    {{"mean", By::kMean}, {"median", By::kMedian}, {"most_common", By::kMostCommon}}};

std::optional<MissingRule> parse_rule(const ConfigNode& node) {
  if (node.is_number()) return MissingRule{By::kNumber, node.as_double(), {}, node.position()};
  if (!node.is_string()) return std::nullopt;
  for (const auto& [word, by] : kFitted)
    if (node.text() == word) return MissingRule{by, 0, {}, node.position()};
  return MissingRule{By::kText, 0, node.text(), node.position()};
}

ConfigNode dump_rule(const MissingRule& rule) {
  for (const auto& [word, by] : kFitted)
    if (rule.by == by) return word;
  return rule.by == By::kNumber ? ConfigNode(rule.number) : ConfigNode::string(rule.text, rule.position);
}

}  // namespace

const MissingRule* MissingRules::named(const std::string& column) const {
  const auto found =
      std::find_if(by_column.begin(), by_column.end(), [&](const auto& one) { return one.first == column; });
  return found == by_column.end() ? nullptr : &found->second;
}

const MissingRule* MissingRules::find(const std::string& column) const {
  const MissingRule* rule = named(column);
  return rule == nullptr && of_all ? &*of_all : rule;
}

FieldType Codec<MissingRules>::type() {
  const FieldType rule = FieldType::either({FieldType::number(), FieldType::text()}, "a number or a text");
  FieldType type = FieldType::either({rule, FieldType::map_of(rule, "by column")},
                                     "a number, mean, median or most_common; or a map of them by column");
  type.nullable = true;
  return type;
}

std::optional<MissingRules> Codec<MissingRules>::parse(const ConfigNode& node, Reader& reader) {
  MissingRules rules;
  if (node.is_null()) return rules;
  const size_t before = reader.errors().count();
  if (node.is_map()) {
    for (const auto& [column, value, position] : node.entries()) {
      auto rule = parse_rule(value);
      if (rule)
        rules.by_column.emplace_back(column, *rule);
      else
        reader.wrong_type(value, "a number, a text, mean, median or most_common");
    }
  } else {
    rules.of_all = parse_rule(node);
    if (!rules.of_all || rules.of_all->by == By::kText)
      reader.wrong_type(node, "a number, mean, median or most_common, or one of them by column");
  }
  return reader.errors().count() == before ? std::optional(std::move(rules)) : std::nullopt;
}

ConfigNode Codec<MissingRules>::dump(const MissingRules& rules) {
  if (rules.of_all) return dump_rule(*rules.of_all);
  if (rules.by_column.empty()) return {};
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [column, rule] : rules.by_column) entries.push_back({column, dump_rule(rule)});
  return ConfigNode::map(std::move(entries));
}

}  // namespace tpack
