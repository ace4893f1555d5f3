#include "draw/text_table.h"

#include <algorithm>

#include "core/text.h"

namespace tpack {
namespace {

struct Column {
  size_t width = 0;
  bool numbers = true;  // all its cells are
};

bool is_number(const std::string& cell) {
  return starts_with_digit(std::string_view(cell).substr(cell.starts_with('-') ? 1 : 0));
}

std::string line_of(const std::vector<std::string>& row, const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string fill(columns[i].width - character_count(row[i]), ' ');
    line += i == 0 ? "" : "  ";
    line += columns[i].numbers && i > 0 ? fill + row[i] : row[i] + fill;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string TextTable::str() const {
  std::vector<Column> columns;
  const auto widen = [&](const std::vector<std::string>& row) {
    columns.resize(std::max(columns.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      columns[i].width = std::max(columns[i].width, character_count(row[i]));
  };
  widen(header_);
  for (const auto& row : rows_) {
    widen(row);
    for (size_t i = 0; i < row.size(); ++i) columns[i].numbers &= row[i].empty() || is_number(row[i]);
  }
  std::string text = header_.empty() ? "" : line_of(header_, columns);
  if (!header_.empty()) {
    std::vector<std::string> rule;
    for (const Column& column : columns) rule.emplace_back(column.width, '-');
    text += line_of(rule, columns);
  }
  for (const auto& row : rows_) text += line_of(row, columns);
  return text;
}

}  // namespace tpack
