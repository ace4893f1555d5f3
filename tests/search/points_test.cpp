#include "search/points.h"

#include <set>

#include <gmock/gmock-matchers.h>

#include "support/errors.h"

namespace tpack {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kSix = {"a=[1, 2, 3]", "fixed=5", "b=[x, y]"};

TEST(GridPoints, are_all_combinations_in_order) {
  EXPECT_THAT(grid_points(parse_search_settings(kSix)),
              ElementsAre(SearchPoint{"1", "x"}, SearchPoint{"1", "y"}, SearchPoint{"2", "x"},
                          SearchPoint{"2", "y"}, SearchPoint{"3", "x"}, SearchPoint{"3", "y"}));
}

TEST(GridPoints, cannot_have_ranges_and_are_limited) {
  EXPECT_TRUE(says(error_from([] { grid_points(parse_search_settings({"a=[1..3]"})); }),
                   {"--set a: a grid needs values, not a range"}));
  std::vector<std::string> texts;
  for (const char* key : {"a", "b", "c", "d", "e"})
    texts.push_back(std::string(key) + "=[0,1,2,3,4,5,6,7,8,9]");
  EXPECT_TRUE(says(error_from([&] { grid_points(parse_search_settings(texts)); }), {"more than 10000 runs"}));
}

TEST(RandomPoints, are_different_and_the_first_ones_do_not_depend_on_the_number) {
  const auto settings = parse_search_settings({"a=[1e-4..1 log]", "b=[x, y]", "c=[1..4]"});
  const auto many = random_points(settings, 200, 9);
  EXPECT_EQ(std::set<SearchPoint>(many.begin(), many.end()).size(), 200U);
  for (const size_t count : {1U, 17U, 199U}) {
    const auto few = random_points(settings, count, 9);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << count;
  }
  EXPECT_NE(random_points(settings, 5, 10), random_points(settings, 5, 9));
}

TEST(RandomPoints, of_all_combinations_are_the_grid_in_another_order) {
  const auto settings = parse_search_settings(kSix);
  auto points = random_points(settings, 6, 4);
  std::sort(points.begin(), points.end());
  EXPECT_EQ(points, grid_points(settings));
  EXPECT_TRUE(says(error_from([&] { random_points(settings, 7, 4); }), {"--trials 7: ", "only 6 different"}));
}

}  // namespace
}  // namespace tpack
