#include "draw/terminal_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kMarks = "*o+x#@%&";
constexpr std::array<int, 6> kAnsiColors = {34, 33, 32, 35, 36, 31};  // of ANSI

/// How to distinguish the curves.
struct Style {
  bool braille = true;
  bool colored = false;

  std::string mark(size_t series) const { return braille ? "\u2500" : std::string(1, kMarks[series % 8]); }
  std::string paint(const std::string& text, size_t series) const {
    if (!colored) return text;
    return "\033[" + std::to_string(kAnsiColors[series % kAnsiColors.size()]) + "m" + text + "\033[0m";
  }
};

/// Dots in character cells; each cell remembers which curve drew in it last.
class Canvas {
 public:
  Canvas(int columns, int rows, const Style& style)
      : style_(style), columns_(columns), cells_(static_cast<size_t>(columns) * static_cast<size_t>(rows)) {
    width_ = columns * (style.braille ? 2 : 1);
    height_ = rows * (style.braille ? 4 : 1);
  }

  int width() const { return width_; }    // in dots
  int height() const { return height_; }  // in dots

  /// A line between two dots; y grows downwards.
  void line(int x0, int y0, int x1, int y1, size_t series) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i)
      dot(x0 + std::lround(double(x1 - x0) * i / steps), y0 + std::lround(double(y1 - y0) * i / steps),
          series);
  }
  /// A row of characters.
  std::string row(int index) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[place(column, index)];
      text += cell.dots == 0 ? " " : style_.paint(symbol(cell), cell.series);
    }
    return text;
  }

 private:
  struct Cell {
    unsigned dots = 0;  // one bit each, as in Unicode's braille
    size_t series = 0;
  };

  size_t place(long column, long row) const {
    return static_cast<size_t>(row) * static_cast<size_t>(columns_) + static_cast<size_t>(column);
  }
  void dot(long x, long y, size_t series) {
    const long column = style_.braille ? x / 2 : x;
    const long row = style_.braille ? y / 4 : y;
    static constexpr std::array<std::array<unsigned, 2>, 4> kBits = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    Cell& cell = cells_[place(column, row)];
    cell.dots |= style_.braille ? kBits[static_cast<size_t>(y % 4)][static_cast<size_t>(x % 2)] : 1U;
    cell.series = series;
  }
  std::string symbol(const Cell& cell) const {
    if (!style_.braille) return style_.mark(cell.series);
    const unsigned code = 0x2800U + cell.dots;  // three bytes of UTF-8
    return {static_cast<char>(0xE0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
            static_cast<char>(0x80U | (code & 0x3FU))};
  }

  const Style& style_;
  int columns_;
  int width_ = 0;
  int height_ = 0;
  std::vector<Cell> cells_;
};

void draw(const Chart& chart, Canvas& canvas) {
  const AxisRange x = x_range(chart);
  const AxisRange y = y_range(chart);
  const auto at = [](double part, int size) { return static_cast<int>(std::lround(part * (size - 1))); };
  for (size_t i = 0; i < chart.series.size(); ++i) {
    std::optional<std::array<int, 2>> before;
    for (const Series::Point& point : chart.series[i].points) {
      if (!std::isfinite(point.y)) {
        before.reset();
        continue;
      }
      const std::array<int, 2> now = {at(x.part(point.x), canvas.width()),
                                      at(1 - y.part(point.y), canvas.height())};
      const std::array<int, 2> from = before.value_or(now);
      canvas.line(from[0], from[1], now[0], now[1], i);
      before = now;
    }
  }
}

/// Names of the curves, as many per line as fit; the last line may show how many are missing.
std::vector<std::string> legend(const Chart& chart, const Style& style, int columns, size_t most_lines) {
  std::vector<std::string> lines(1);
  int used = 0;
  size_t first_on_line = 0;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const std::string& name = chart.series[i].name;
    const int width = static_cast<int>(character_count(name)) + 2;
    if (used > 0 && used + 3 + width > columns) {
      if (lines.size() == most_lines) {
        lines.back() = "and " + std::to_string(chart.series.size() - first_on_line) + " more";
        return lines;
      }
      first_on_line = i;
      lines.emplace_back();
      used = 0;
    }
    lines.back() += (used > 0 ? "   " : "") + style.paint(style.mark(i), i) + " " + name;
    used += width + (used > 0 ? 3 : 0);
  }
  return lines;
}

/// The numbers left of the rows, right-aligned; empty if a row has none.
std::vector<std::string> row_labels(const AxisRange& range, int rows) {
  std::vector<std::string> labels(static_cast<size_t>(rows));
  for (const double value : ticks(range, std::max(2, rows / 3)))
    labels[static_cast<size_t>(std::lround((1 - range.part(value)) * (rows - 1)))] = tick_label(value);
  size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, label.size());
  for (std::string& label : labels) label.insert(0, width - label.size(), ' ');
  return labels;
}

/// The numbers below the horizontal axis, each centered below its position if there is room.
std::string column_labels(const Chart& chart, int columns) {
  const AxisRange range = x_range(chart);
  std::string text(static_cast<size_t>(columns), ' ');
  const size_t label_end = text.size() - std::min(text.size(), chart.x_label.size() + 1);
  size_t free = 0;
  for (const double value : ticks(range, std::max(2, columns / 12))) {
    const std::string label = tick_label(value);
    const auto center = static_cast<size_t>(std::lround(range.part(value) * (columns - 1)));
    const size_t begin = center - std::min(center, label.size() / 2);
    if (begin < free || begin + label.size() > label_end) continue;
    text.replace(begin, label.size(), label);
    free = begin + label.size() + 1;
  }
  return text.replace(text.size() - std::min(text.size(), chart.x_label.size()), std::string::npos,
                      chart.x_label);
}

}  // namespace

std::string terminal_chart(const Chart& chart, TerminalSize size, Colors colors) {
  size = {std::max(size.columns, 20), std::max(size.rows, 6)};
  const bool several = chart.series.size() > 1;
  const Style style{.braille = !several || colors == Colors::kYes,
                    .colored = several && colors == Colors::kYes};
  const std::vector<std::string> head =
      legend(chart, style, size.columns, static_cast<size_t>(std::max(2, size.rows / 3)));
  const int rows = std::max(3, size.rows - static_cast<int>(head.size()) - 2);
  const std::vector<std::string> labels = row_labels(y_range(chart), rows);
  const std::string indent(labels[0].size(), ' ');
  const int columns = std::max(8, size.columns - static_cast<int>(indent.size()) - 2);
  Canvas canvas(columns, rows, style);
  draw(chart, canvas);
  std::string text = join(head, "\n") + "\n";
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<size_t>(row)];
    const bool tick = label.find_first_not_of(' ') != std::string::npos;
    text += label + (tick ? " \u2524" : " \u2502") + canvas.row(row) + "\n";
  }
  text += indent + " \u2514";
  for (int column = 0; column < columns; ++column) text += "\u2500";
  return text + "\n" + indent + "  " + column_labels(chart, columns) + "\n";
}

}  // namespace tpack
