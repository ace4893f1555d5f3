#include "draw/chart.h"

#include <cmath>
#include <limits>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Chart chart_of(std::vector<Series::Point> points) { return {{{"a", std::move(points)}}, "step"}; }

TEST(Ticks, are_round_numbers_in_the_range) {
  EXPECT_THAT(ticks({0, 1}, 5), ElementsAre(0, 0.2, 0.4, DoubleEq(0.6), 0.8, 1));
  EXPECT_THAT(ticks({0, 1200}, 5), ElementsAre(0, 500, 1000));
  EXPECT_THAT(ticks({-0.03, 0.012}, 5), ElementsAre(-0.03, -0.02, -0.01, 0, 0.01));
  EXPECT_THAT(ticks({99.7, 100.1}, 2), ElementsAre(DoubleEq(99.8), 100));
  EXPECT_THAT(ticks({0.51, 0.99}, 2), ElementsAre(DoubleEq(0.6), 0.8)) << "one alone would be no scale";
}

TEST(YRange, holds_every_finite_value_with_a_margin) {
  const AxisRange range = y_range(chart_of({{0, 1}, {1, kNan}, {2, 3}, {3, kInf}}));
  EXPECT_DOUBLE_EQ(range.low, 0.9);
  EXPECT_DOUBLE_EQ(range.high, 3.1);
}

TEST(YRange, is_never_empty) {
  for (const double value : {0.0, -5.0, 1e300, 1e-300, kNan}) {
    const AxisRange range = y_range(chart_of({{0, value}}));
    EXPECT_LT(range.low, range.high) << value;
    if (std::isfinite(value)) {
      EXPECT_NEAR(range.part(value), 0.5, 1e-9) << value;
    }
  }
  const AxisRange widest = y_range(chart_of({{0, -1e308}, {1, 1e308}}));
  EXPECT_TRUE(std::isfinite(widest.low) && std::isfinite(widest.high));
}

TEST(XRange, begins_at_0) {
  EXPECT_EQ(x_range(chart_of({{10, 1}, {40, 1}})).high, 40);
  EXPECT_EQ(x_range(chart_of({{10, 1}, {40, 1}})).low, 0);
  EXPECT_EQ(x_range(chart_of({{0, 1}})).high, 1);
}

}  // namespace
}  // namespace tpack
