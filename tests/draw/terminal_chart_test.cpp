#include "draw/terminal_chart.h"

#include <limits>

#include <gmock/gmock-matchers.h>

#include "core/text.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Chart chart_of(std::vector<Series> series) { return {std::move(series), "step"}; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  lines.pop_back();
  return lines;
}

TEST(TerminalChart, is_as_large_as_the_terminal) {
  const Chart chart = chart_of({{"cost", {{1, 3}, {50, 0.5}, {100, 1}}}});
  for (const TerminalSize size : {TerminalSize{80, 24}, TerminalSize{132, 50}, TerminalSize{20, 6}}) {
    const auto lines = lines_of(terminal_chart(chart, size, Colors::kNo));
    EXPECT_EQ(lines.size(), static_cast<size_t>(size.rows));
    for (const std::string& line : lines) EXPECT_LE(character_count(line), static_cast<size_t>(size.columns));
  }
}

TEST(TerminalChart, has_a_legend_and_numbers_on_its_axes) {
  const auto lines =
      lines_of(terminal_chart(chart_of({{"cost", {{0, 1}, {100, 0}}}}), {40, 12}, Colors::kNo));
  EXPECT_EQ(lines.front(), "─ cost");
  EXPECT_TRUE(lines[1].starts_with("  1 ┤")) << lines[1];
  EXPECT_THAT(lines.back(), HasSubstr("  0"));
  EXPECT_THAT(lines.back(), HasSubstr("50"));
  EXPECT_TRUE(lines.back().ends_with("step"));
  bool has_half = false;
  for (const std::string& line : lines) has_half |= line.starts_with("0.5 ┤");
  EXPECT_TRUE(has_half) << join(lines, "\n");
}

TEST(TerminalChart, leaves_most_of_the_rows_to_the_curves_of_many) {
  std::vector<Series> many;
  for (int i = 0; i < 40; ++i) many.push_back({"run " + std::to_string(i), {{0, 1}, {10, 0}}});
  const auto lines = lines_of(terminal_chart(chart_of(many), {30, 15}, Colors::kNo));
  EXPECT_EQ(lines.size(), 15U);
  EXPECT_THAT(lines[3], HasSubstr("run 9"));
  EXPECT_EQ(lines[4], "and 28 more");
}

/// A falling straight line goes from the upper left to the lower right corner.
TEST(TerminalChart, draws_what_falls_as_falling) {
  const Chart chart = chart_of({{"a", {{0, 1}, {10, 0}}}, {"none", {}}});
  const auto lines = lines_of(terminal_chart(chart, {20, 14}, Colors::kNo));
  size_t last = 0;
  int found = 0;
  for (size_t i = 1; i + 2 < lines.size(); ++i) {
    const size_t star = lines[i].find('*');
    if (star == std::string::npos) continue;
    EXPECT_GE(star, last) << join(lines, "\n");
    last = star;
    ++found;
  }
  EXPECT_GE(found, 9);
}

TEST(TerminalChart, tells_several_curves_apart) {
  const Chart chart = chart_of({{"a", {{0, 1}, {10, 1}}}, {"b", {{0, 0}, {10, 0}}}});
  const std::string plain = terminal_chart(chart, {40, 10}, Colors::kNo);
  EXPECT_THAT(plain, HasSubstr("* a   o b\n"));
  EXPECT_THAT(plain, HasSubstr("****"));
  EXPECT_THAT(plain, HasSubstr("oooo"));
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  const std::string colored = terminal_chart(chart, {40, 10}, Colors::kYes);
  EXPECT_THAT(colored, HasSubstr("\033[34m"));
  EXPECT_THAT(colored, HasSubstr("\033[33m"));
  EXPECT_THAT(colored, Not(HasSubstr("**")));
}

TEST(TerminalChart, leaves_gaps_and_draws_single_points) {
  const Chart gap = chart_of({{"a", {{0, 1}, {4, 1}, {5, kMissing}, {6, 1}, {10, 1}}}, {"b", {}}});
  const auto lines = lines_of(terminal_chart(gap, {60, 8}, Colors::kNo));
  std::string row;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].find('*') != std::string::npos) row = lines[i];
  }
  EXPECT_THAT(row, HasSubstr("* "));
  EXPECT_THAT(row.substr(row.find("* ")), HasSubstr(" *"));
  const std::string one = terminal_chart(chart_of({{"a", {{0, 7}}}, {"b", {}}}), {40, 10}, Colors::kNo);
  EXPECT_EQ(std::count(one.begin(), one.end(), '*'), 2) << "in the legend and in the chart\n" << one;
  const std::string none = terminal_chart(chart_of({{"a", {{0, kMissing}}}}), {40, 10}, Colors::kNo);
  EXPECT_THAT(none, HasSubstr("─ a\n"));
}

}  // namespace
}  // namespace tpack
