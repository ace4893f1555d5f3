#include "draw/text_table.h"

#include <algorithm>

#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

struct Column {
  size_t width = 0;
  bool numbers = true;  // all its cells are numbers
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

/// The row with its last column on as many lines as it needs: in its column if there is room, else below the
/// row.
std::string wrapped_row(std::vector<std::string> row, const std::vector<Column>& columns, size_t width) {
  constexpr size_t kLeast = 30;
  constexpr size_t kIndent = 4;
  std::string line = line_of(row, columns);
  const bool fits = width == 0 || row.size() < columns.size() || character_count(line) <= width + 1;
  if (fits || row.size() < 2) return line;
  size_t begin = 0;
  for (size_t i = 0; i + 1 < columns.size(); ++i) begin += columns[i].width + 2;
  const bool has_room = begin + kLeast <= width;
  const size_t indent = has_room ? begin : kIndent;
  std::vector<std::string> lines = wrapped(row.back(), width > indent ? width - indent : 1);
  row.back().clear();
  std::string text;
  if (has_room) {
    row.back() = lines[0];
    lines.erase(lines.begin());
  }
  text = line_of(row, columns);
  for (const std::string& more : lines) text += std::string(indent, ' ') + more + "\n";
  return text;
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::str(size_t width) const {
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
    std::string line = line_of(rule, columns);
    if (width > 0 && line.size() > width + 1)
      line = line.substr(0, line.find_last_not_of(' ', width - 1) + 1) + "\n";
    text += line;
  }
  for (const auto& row : rows_) text += wrapped_row(row, columns, width);
  return text;
}

}  // namespace tpack
