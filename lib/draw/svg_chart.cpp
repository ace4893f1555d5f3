#include "draw/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/text.h"
#include "draw/svg.h"

namespace tpack {
namespace {

constexpr double kWidth = 400;   // of a chart
constexpr double kHeight = 224;  // without the legend
constexpr double kLeft = 56;
constexpr double kRight = 16;
constexpr double kTop = 10;
constexpr double kBottom = 40;
constexpr double kLegendLine = 18;
constexpr std::array<const char*, 6> kColors = {"#3b82f6", "#e36209", "#2da44e",
                                                "#a371f7", "#bf8700", "#db61a2"};

/// One chart, its left upper corner at (left, 0).
class Panel {
 public:
  Panel(const Chart& chart, double left, double top)
      : chart_(chart), x_(x_range(chart)), y_(y_range(chart)), left_(left), top_(top + kTop) {}

  std::string str() const {
    std::string out = axes();
    for (size_t i = 0; i < chart_.series.size(); ++i) out += legend(i) + curve(i);
    return out;
  }

 private:
  double column(double x) const { return left_ + kLeft + x_.part(x) * (kWidth - kLeft - kRight); }
  double row(double y) const { return top_ + (1 - y_.part(y)) * (kHeight - kTop - kBottom); }

  std::string axes() const {
    std::string out;
    for (const double y : ticks(y_, 5)) {
      out += svg_element("line", {{"x1", svg_number(column(x_.low))},
                                  {"y1", svg_number(row(y))},
                                  {"x2", svg_number(column(x_.high))},
                                  {"y2", svg_number(row(y))},
                                  {"stroke", kSvgGray},
                                  {"stroke-opacity", "0.3"}});
      out += svg_text(column(x_.low) - 6, row(y) + 4, "end", tick_label(y));
    }
    for (const double x : ticks(x_, 5)) out += svg_text(column(x), row(y_.low) + 16, "middle", tick_label(x));
    return out + svg_text(column((x_.low + x_.high) / 2), row(y_.low) + 33, "middle", chart_.x_label);
  }
  std::string legend(size_t series) const {
    return svg_element("text",
                       {{"x", svg_number(left_ + kLeft)},
                        {"y", svg_number(16 + kLegendLine * static_cast<double>(series))},
                        {"font-weight", "bold"},
                        {"fill", color(series)}},
                       svg_escaped(chart_.series[series].name));
  }
  /// A line for each part between gaps, a dot for a part with one point.
  std::string curve(size_t series) const {
    std::string out;
    std::vector<std::string> part;
    const auto end_part = [&] {
      if (part.size() == 1) {
        const size_t comma = part[0].find(',');
        out += svg_element("circle", {{"cx", part[0].substr(0, comma)},
                                      {"cy", part[0].substr(comma + 1)},
                                      {"r", "3"},
                                      {"fill", color(series)}});
      } else if (!part.empty()) {
        out += svg_element("polyline", {{"points", join(part, " ")},
                                        {"fill", "none"},
                                        {"stroke", color(series)},
                                        {"stroke-width", "2"}});
      }
      part.clear();
    };
    for (const Series::Point& point : chart_.series[series].points) {
      if (std::isfinite(point.y)) {
        part.push_back(svg_number(column(point.x)) + "," + svg_number(row(point.y)));
      } else {
        end_part();
      }
    }
    end_part();
    return out;
  }
  static std::string color(size_t series) { return kColors[series % kColors.size()]; }

  const Chart& chart_;
  AxisRange x_;
  AxisRange y_;
  double left_;
  double top_;
};

}  // namespace

std::string svg_charts(const std::vector<Chart>& charts) {
  size_t most = 0;
  for (const Chart& chart : charts) most = std::max(most, chart.series.size());
  const double top = kLegendLine * static_cast<double>(most);
  const double width = kWidth * static_cast<double>(charts.size());
  std::string panels;
  for (size_t i = 0; i < charts.size(); ++i)
    panels += Panel(charts[i], kWidth * static_cast<double>(i), top).str();
  return svg_document(width, kHeight + top, panels);
}

}  // namespace tpack
