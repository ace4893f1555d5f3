#include "infer/answer_columns.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kFile = "file";
constexpr const char* kIndex = "index";

struct Word {
  std::string header;
  std::string name;
  bool has_header = false;

  explicit Word(const std::string& text) : header(text), name(text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return;
    header = text.substr(0, equals);
    name = text.substr(equals + 1);
    has_header = true;
    if (header.empty() || name.empty())
      throw ConfigError("--columns: '" + text + "': write HEADER=NAME, such as Survived=prediction");
  }
};

bool is_of_sample(const std::string& name) { return name == kFile || name == kIndex; }

}  // namespace

bool AnswerColumns::ask_for_truth(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return Word(word).name == "true"; });
}

AnswerColumns::AnswerColumns(const std::vector<std::string>& words, const Answers& answers)
    : answers_(answers) {
  for (const std::string& word : words) add(word);
}

void AnswerColumns::add(const std::string& word) {
  const Word asked(word);
  Column column{asked.header, asked.name};
  if (auto predicted = answers_.find_predicted(asked.name)) {
    column.answer = std::move(predicted);
    column.may_be_input = false;
  } else if (!is_of_sample(asked.name)) {
    column.answer = answers_.find(asked.name);
    column.may_be_input = !column.answer || !asked.has_header;
  } else {
    column.may_be_input = !asked.has_header;
  }
  columns_.push_back(std::move(column));
}

std::vector<std::string> AnswerColumns::header() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.header);
  return names;
}

WantedColumns AnswerColumns::wanted() const {
  WantedColumns wanted;
  for (const Column& column : columns_) {
    if (!column.may_be_input) continue;
    const bool is_known = column.answer || is_of_sample(column.name);
    (is_known ? wanted.optional : wanted.required).push_back(column.name);
  }
  std::vector<std::string> names = answers_.names();
  names.insert(names.end(), {"true", kFile, kIndex});
  wanted.others = "the outputs of the model are " + join_first(names);
  return wanted;
}

/// A requested name that the input also has is ambiguous.
void AnswerColumns::warn_once(Column& column) {
  if (std::exchange(column.has_warned, true)) return;
  log::warning("--columns: '" + column.name +
               "' is the column of the input; for the output of the model, write " + column.header + "=" +
               column.name);
}

std::vector<std::string> AnswerColumns::fields(const Prediction& p) {
  std::vector<std::string> fields;
  for (Column& column : columns_) {
    const auto text = column.may_be_input ? p.columns.find(column.name) : p.columns.end();
    if (text != p.columns.end()) {
      if (column.answer || is_of_sample(column.name)) warn_once(column);
      fields.push_back(text->second);
    } else if (is_of_sample(column.name)) {
      fields.push_back(column.name == kFile ? p.file : std::to_string(p.index));
    } else {
      fields.push_back(column.answer && p.error.empty() ? (*column.answer)(p) : "");
    }
  }
  return fields;
}

}  // namespace tpack
