#include "cli/text_table.h"

#include <algorithm>

#include "core/text.h"

namespace tpack {
namespace {

std::string line_of(const std::vector<std::string>& row, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string fill(widths[i] - character_count(row[i]), ' ');
    line += i == 0 ? "" : "  ";
    line += starts_with_digit(row[i]) && i > 0 ? fill + row[i] : row[i] + fill;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string TextTable::str() const {
  std::vector<size_t> widths;
  const auto widen = [&](const std::vector<std::string>& row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], character_count(row[i]));
  };
  widen(header_);
  for (const auto& row : rows_) widen(row);
  std::string text = header_.empty() ? "" : line_of(header_, widths);
  if (!header_.empty()) {
    std::vector<std::string> rule;
    for (const size_t width : widths) rule.emplace_back(width, '-');
    text += line_of(rule, widths);
  }
  for (const auto& row : rows_) text += line_of(row, widths);
  return text;
}

}  // namespace tpack
