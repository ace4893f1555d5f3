#include "table/csv_na_values.h"

#include <algorithm>

#include "core/text.h"
#include "table/csv.h"

namespace tpack {
namespace {

std::vector<std::string> parse_words(const ConfigNode& node, Reader& reader) {
  const ConfigNode list = node.is_list() ? node : ConfigNode::list({node}, node.position());
  std::vector<std::string> words;
  for (const ConfigNode& word : list.items()) {
    if (!word.is_string() && !word.is_number())
      reader.wrong_type(word, "a word or a number");
    else
      words.push_back(word.text());
  }
  return words;
}

ConfigNode dumped_words(const std::vector<std::string>& words) {
  std::vector<ConfigNode> items;
  for (const std::string& word : words) items.push_back(ConfigNode::string(word, {}));
  return ConfigNode::list(std::move(items));
}

}  // namespace

FieldType Codec<NaValues>::type() {
  const FieldType word = FieldType::either({FieldType::text(), FieldType::number()}, "a word or a number");
  const FieldType words = FieldType::either({FieldType::list_of(word), word}, "a word or a list of words");
  return FieldType::either({words, FieldType::map_of(words, "by column")},
                           "a word, a list of words, or words by column");
}

std::optional<NaValues> Codec<NaValues>::parse(const ConfigNode& node, Reader& reader) {
  NaValues values{.position = node.position()};
  const size_t before = reader.errors().count();
  if (node.is_map()) {
    for (const auto& [column, words, position] : node.entries())
      values.by_column.emplace_back(column, parse_words(words, reader));
  } else {
    values.of_all = parse_words(node, reader);
  }
  return reader.errors().count() == before ? std::optional(std::move(values)) : std::nullopt;
}

ConfigNode Codec<NaValues>::dump(const NaValues& values) {
  if (values.by_column.empty()) return dumped_words(values.of_all);
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [column, words] : values.by_column) entries.push_back({column, dumped_words(words)});
  return ConfigNode::map(std::move(entries));
}

NaWords::NaWords(const NaValues& values, const std::vector<std::string>& columns) {
  if (values.empty()) return;
  for (const std::string& column : columns) {
    std::vector<Word>& words = by_column_.emplace_back();
    const auto own = std::find_if(values.by_column.begin(), values.by_column.end(),
                                  [&](const auto& one) { return one.first == column; });
    for (const std::string& text : own == values.by_column.end() ? values.of_all : own->second)
      words.push_back({text, csv_number(text)});
  }
}

bool NaWords::is_one(std::string_view field, const Word& word) {
  if (field == word.text) return true;
  return word.number && csv_number(field) == word.number;
}

void NaWords::clear_in(std::vector<std::string_view>& fields) const {
  const size_t count = std::min(fields.size(), by_column_.size());
  for (size_t i = 0; i < count; ++i) {
    const std::vector<Word>& words = by_column_[i];
    const std::string_view field = words.empty() ? std::string_view() : trim(fields[i]);
    const bool is_na =
        std::any_of(words.begin(), words.end(), [&](const Word& word) { return is_one(field, word); });
    if (is_na) fields[i] = {};
  }
}

}  // namespace tpack
