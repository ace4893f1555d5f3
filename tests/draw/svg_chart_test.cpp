#include "draw/svg_chart.h"

#include <limits>
#include <regex>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

int count(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

TEST(SvgCharts, have_a_curve_a_name_and_a_color_each) {
  const Chart chart = {{{"a", {{0, 1}, {10, 0}}}, {"b", {{0, 0}, {10, 1}}}}, "step"};
  const std::string svg = svg_charts({chart, chart});
  EXPECT_EQ(count(svg, "<polyline"), 4);
  EXPECT_EQ(count(svg, ">a</text>"), 2);
  EXPECT_EQ(count(svg, ">step</text>"), 2);
  EXPECT_EQ(count(svg, "stroke=\"#3b82f6\""), 2);
  EXPECT_EQ(count(svg, "stroke=\"#e36209\""), 2);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 800 260\""));
  EXPECT_THAT(svg, HasSubstr(">0.5</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("<rect"))) << "no background";
}

TEST(SvgCharts, put_larger_values_higher) {
  const std::string svg = svg_charts({{{{"a", {{0, 0}, {10, 1}}}}, "step"}});
  std::smatch match;
  ASSERT_TRUE(
      std::regex_search(svg, match, std::regex("points=\"([0-9.]+),([0-9.]+) ([0-9.]+),([0-9.]+)\"")));
  EXPECT_LT(std::stod(match[1]), std::stod(match[3]));
  EXPECT_GT(std::stod(match[2]), std::stod(match[4]));
}

TEST(SvgCharts, leave_gaps_and_draw_single_points) {
  const std::string svg = svg_charts(
      {{{{"a", {{0, 1}, {1, 2}, {2, kNoNumber}, {3, 1}, {4, kNoNumber}, {5, 1}, {6, 1}}}}, "step"}});
  EXPECT_EQ(count(svg, "<polyline"), 2);
  EXPECT_EQ(count(svg, "<circle"), 1);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgCharts, are_well_formed_whatever_the_names) {
  EXPECT_THAT(svg_charts({{{{"a<b>&c", {{0, 1}}}}, "step"}}), HasSubstr(">a&lt;b&gt;&amp;c</text>"));
}

}  // namespace
}  // namespace tpack
