#include "core/piecewise.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

using Interpolation = Piecewise::Interpolation;

Piecewise of(std::vector<Piecewise::Point> points, Interpolation interpolation) {
  return {std::move(points), interpolation, "callback X"};
}

TEST(Piecewise, changes_only_at_its_points) {
  const Piecewise schedule = of({{30, 0.3}, {40, 0.4}}, Interpolation::kNone);
  EXPECT_EQ(schedule.change_at(29), std::nullopt);
  EXPECT_EQ(schedule.change_at(30), 0.3);
  EXPECT_EQ(schedule.change_at(31), std::nullopt);
  EXPECT_EQ(schedule.change_at(40), 0.4);
  EXPECT_EQ(schedule.change_at(41), std::nullopt);
}

TEST(Piecewise, goes_straight_between_points_and_nowhere_outside) {
  const Piecewise schedule = of({{30, 0.3}, {40, 0.4}, {50, 0.5}}, Interpolation::kLinear);
  EXPECT_EQ(schedule.change_at(29), std::nullopt);
  EXPECT_DOUBLE_EQ(*schedule.change_at(45), 0.45);
  EXPECT_DOUBLE_EQ(*schedule.change_at(31), 0.31);
  EXPECT_EQ(schedule.change_at(50), 0.5);
  EXPECT_EQ(schedule.change_at(51), std::nullopt);
}

/// Half a period of the cosine: (1 + cos(pi t)) / 2 of the way is left.
TEST(Piecewise, follows_a_cosine_between_points) {
  const Piecewise schedule = of({{0, 1}, {6, 0.2}}, Interpolation::kCosine);
  EXPECT_EQ(schedule.change_at(0), 1);
  EXPECT_DOUBLE_EQ(*schedule.change_at(2), 0.2 + 0.8 * 0.75);  // cos(pi / 3) is 0.5
  EXPECT_DOUBLE_EQ(*schedule.change_at(3), 0.6);
  EXPECT_DOUBLE_EQ(*schedule.change_at(4), 0.2 + 0.8 * 0.25);
  EXPECT_EQ(schedule.change_at(6), 0.2);
  EXPECT_EQ(schedule.change_at(7), std::nullopt);
}

TEST(Piecewise, multiplies_by_the_same_factor_between_points) {
  const Piecewise schedule = of({{10, 1}, {14, 1.0 / 16}}, Interpolation::kExponential);
  EXPECT_DOUBLE_EQ(*schedule.change_at(11), 0.5);
  EXPECT_DOUBLE_EQ(*schedule.change_at(12), 0.25);
  EXPECT_DOUBLE_EQ(*schedule.change_at(13), 0.125);
  EXPECT_DOUBLE_EQ(*schedule.value_after(13), 0.125);
  EXPECT_EQ(schedule.change_at(9), std::nullopt);
  try {
    of({{0, 1}, {5, 0}}, Interpolation::kExponential);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "callback X: invalid pair [5, 0] in 'values': with `interp: exponential`, values must be above 0");
  }
}

TEST(Piecewise, a_value_holds_until_the_next_point) {
  const Piecewise schedule = of({{10, 0.1}, {20, 0.0}}, Interpolation::kNone);
  EXPECT_EQ(schedule.value_after(9), std::nullopt);
  EXPECT_EQ(schedule.value_after(10), 0.1);
  EXPECT_EQ(schedule.value_after(19), 0.1);
  EXPECT_EQ(schedule.value_after(20), 0.0);  // zero is a value
  EXPECT_EQ(schedule.value_after(1000), 0.0);
  const Piecewise straight = of({{10, 0.1}, {20, 0.2}}, Interpolation::kLinear);
  EXPECT_DOUBLE_EQ(*straight.value_after(15), 0.15);
  EXPECT_EQ(straight.value_after(1000), 0.2);
}

TEST(Piecewise, knows_the_points_that_a_run_does_not_reach) {
  using Points = std::vector<Piecewise::Point>;
  const Points points = {{5, 0.1}, {10, 0.2}, {20, 0.3}};
  EXPECT_EQ(of(points, Interpolation::kNone).without_effect(21), Points{});
  EXPECT_EQ(of(points, Interpolation::kNone).without_effect(20), (Points{{20, 0.3}})) << "set after the end";
  EXPECT_EQ(of(points, Interpolation::kNone).without_effect(9), (Points{{10, 0.2}, {20, 0.3}}));
  EXPECT_EQ(of(points, Interpolation::kLinear).without_effect(12), Points{}) << "the line to it has begun";
  EXPECT_EQ(of(points, Interpolation::kLinear).without_effect(11), (Points{{20, 0.3}}));
  EXPECT_EQ(of(points, Interpolation::kLinear).without_effect(4), points);
}

std::string error_of(std::vector<Piecewise::Point> points) {
  try {
    of(std::move(points), Interpolation::kNone);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Piecewise, rejects_what_is_not_a_schedule) {
  EXPECT_EQ(error_of({}),
            "callback X: 'values' is empty; write at least one pair [time, value], such as [10, 0.01]");
  EXPECT_EQ(error_of({{10, 1}, {10, 3}}), "callback X: 'values' has two entries for 10");
  EXPECT_EQ(error_of({{0, 0.1}, {10, 0.01}, {5, 0.5}}),
            "callback X: 'values' has 5 after 10; sort the points: [[0, 0.1], [5, 0.5], [10, 0.01]]");
}

}  // namespace
}  // namespace tpack
