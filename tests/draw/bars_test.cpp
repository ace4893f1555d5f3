#include "draw/bars.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::HasSubstr;

TEST(SvgBars, have_lengths_in_the_ratio_of_their_values) {
  const std::string svg = svg_bars("rise", {{"a & b", 2, 1, 4}, {"c", 1, 1, 1}});
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, HasSubstr("width=\"180.0\"")) << "half of 360, which the interval fills";
  EXPECT_THAT(svg, HasSubstr("width=\"90.0\""));
}

TEST(SvgBars, go_to_the_left_of_zero_for_values_below_it) {
  const std::string svg = svg_bars("rise", {{"a", -1, -2, 0}, {"b", 2, 2, 2}});
  EXPECT_THAT(svg, HasSubstr("width=\"90.0\"")) << "a quarter of the 4 from -2 to 2";
  EXPECT_THAT(svg, HasSubstr("width=\"180.0\""));
}

TEST(SvgBars, may_all_be_zero) { EXPECT_THAT(svg_bars("rise", {{"a", 0, 0, 0}}), HasSubstr("<svg")); }

}  // namespace
}  // namespace tpack
