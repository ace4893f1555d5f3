#include "table/csv_tags.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace tpack {

CsvTags::CsvTags(size_t column, std::string name, std::string separator, std::vector<std::string> given)
    : column_(column), name_{std::move(name)}, separator_(std::move(separator)), given_(std::move(given)) {
  take_labels(given_);
}

std::unique_ptr<CsvValues> CsvTags::part(size_t rows) const {
  auto part = std::make_unique<CsvTags>(column_, name_[0], separator_, given_);
  part->ends_.reserve(rows);
  return part;
}

void CsvTags::append(CsvValues& part) {
  const auto& later = static_cast<CsvTags&>(part);
  std::vector<size_t> number_here;
  for (const std::string& tag : later.tags_) number_here.push_back(number_of(tag));
  const size_t before = numbers_.size();
  for (const size_t number : later.numbers_) numbers_.push_back(number_here[number]);
  for (const size_t end : later.ends_) ends_.push_back(before + end);
}

void CsvTags::add(const std::vector<std::string_view>& fields, CsvNumberReader& /*reader*/) {
  for (const std::string_view tag : words_of(fields[column_])) {
    if (!given_.empty() && std::ranges::find(given_, tag) == given_.end())
      throw BadField{"column '" + name_[0] + "' has '" + std::string(tag) +
                     "', which is not one of its 'classes'" + did_you_mean(tag, given_)};
    numbers_.push_back(number_of(tag));
  }
  ends_.push_back(numbers_.size());
}

void CsvTags::fit(std::span<const int64_t> rows) {
  if (!given_.empty()) return take_labels(given_);
  std::set<std::string> found;
  for (const int64_t row : rows) {
    const auto at = static_cast<size_t>(row);
    for (size_t i = at == 0 ? 0 : ends_[at - 1]; i < ends_[at]; ++i) found.insert(tags_[numbers_[i]]);
  }
  if (found.empty()) throw DataError("column '" + name_[0] + "' has no labels in the rows for training");
  take_labels({found.begin(), found.end()});
}

State CsvTags::learned() const {
  State state;
  if (!labels_.empty()) state.put("tags", join(labels_, "\n"));
  return state;
}

void CsvTags::use(const State& learned) {
  take_labels(given_.empty() ? split(learned.get<std::string>("tags"), '\n') : given_);
}

void CsvTags::get(size_t row, float* out) const {
  std::fill_n(out, labels_.size(), 0.F);
  for (size_t i = row == 0 ? 0 : ends_[row - 1]; i < ends_[row]; ++i) {
    const int64_t label = label_of_[numbers_[i]];
    if (label >= 0) out[label] = 1;
  }
}

std::vector<std::string> CsvTags::remarks() const {
  std::vector<std::string> others;
  for (size_t i = 0; i < tags_.size() && i < label_of_.size(); ++i)
    if (label_of_[i] < 0) others.push_back("'" + tags_[i] + "'");
  std::ranges::sort(others);
  if (others.empty()) return {};
  return {"column '" + name_[0] +
          "' has labels that the rows for training do not have; they are ignored: " + join_first(others)};
}

std::vector<std::string_view> CsvTags::words_of(std::string_view field) const {
  std::vector<std::string_view> words;
  const bool is_space = trim(separator_).empty();
  std::string_view rest = trim(field);
  while (!rest.empty()) {
    const size_t end =
        std::min(is_space ? rest.find_first_of(" \t\n\r") : rest.find(separator_), rest.size());
    const std::string_view word = trim(rest.substr(0, end));
    if (!word.empty()) words.push_back(word);
    rest.remove_prefix(std::min(end + (is_space ? 1 : separator_.size()), rest.size()));
  }
  return words;
}

size_t CsvTags::number_of(std::string_view tag) {
  const auto known = seen_.find(tag);
  if (known != seen_.end()) return known->second;
  tags_.emplace_back(tag);
  seen_.emplace(tag, tags_.size() - 1);
  return tags_.size() - 1;
}

void CsvTags::take_labels(std::vector<std::string> labels) {
  labels_ = std::move(labels);
  std::map<std::string_view, int64_t> number_of;
  for (const std::string& label : labels_) number_of.emplace(label, std::ssize(number_of));
  label_of_.clear();
  for (const std::string& tag : tags_) {
    const auto found = number_of.find(tag);
    label_of_.push_back(found == number_of.end() ? -1 : found->second);
  }
}

}  // namespace tpack
