#include "draw/bars.h"

#include <algorithm>

#include "core/text.h"
#include "draw/svg.h"

namespace tpack {
namespace {

constexpr double kBarRow = 22;
constexpr double kBarTitle = 26;
constexpr double kBarWidth = 360;  // of the bars
constexpr double kBarLetter = 6.6;
constexpr double kBarValues = 80;  // to the right of the bars

std::string bar_part(double x, double y, double width, double height, const char* color) {
  return svg_element("rect", {{"x", svg_number(x)},
                              {"y", svg_number(y)},
                              {"width", svg_number(width)},
                              {"height", svg_number(height)},
                              {"fill", color}});
}

}  // namespace

std::string svg_bars(const std::string& title, const std::vector<Bar>& bars) {
  size_t longest = 1;
  double least = 0;
  double most = 0;
  for (const Bar& bar : bars) {
    longest = std::max(longest, character_count(bar.name));
    least = std::min({least, bar.low, bar.value});
    most = std::max({most, bar.high, bar.value});
  }
  const double left = kBarLetter * static_cast<double>(longest) + 16;
  const double scale = most > least ? kBarWidth / (most - least) : 0;
  const auto place = [&](double value) { return left + (value - least) * scale; };
  std::string out = svg_text(4, 15, "start", title);
  double y = kBarTitle;
  for (const Bar& bar : bars) {
    const double from = std::min(place(0), place(bar.value));
    const double to = std::max(place(0), place(bar.value));
    out += svg_text(left - 8, y + kBarRow / 2 + 4, "end", bar.name);
    out += bar_part(from, y + 4, to - from, kBarRow - 8, "#93b4f5");
    out += bar_part(place(bar.low), y + kBarRow / 2 - 0.5, place(bar.high) - place(bar.low), 1, "#1d4ed8");
    for (const double end : {bar.low, bar.high})
      out += bar_part(place(end) - 0.5, y + kBarRow / 2 - 4, 1, 8, "#1d4ed8");
    out += svg_text(left + kBarWidth + 8, y + kBarRow / 2 + 4, "start", short_text(bar.value));
    y += kBarRow;
  }
  out += bar_part(place(0) - 0.5, kBarTitle, 1, y - kBarTitle, kSvgGray);
  return svg_document(left + kBarWidth + kBarValues, y + 8, out);
}

}  // namespace tpack
