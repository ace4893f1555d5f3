#include "core/position.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

Position place_in(const std::string& file, int line, int column) {
  return {std::make_shared<const std::string>(file), line, column};
}

TEST(Position, prints_file_line_and_column) {
  EXPECT_EQ(place_in("train.yaml", 42, 13).str(), "train.yaml:42:13");
  EXPECT_EQ(place_in("--set optimizer", 0, 0).str(), "--set optimizer");
  EXPECT_EQ(Position{}.str(), "");
}

TEST(Position, compares_by_value) {
  EXPECT_EQ(place_in("a.yaml", 1, 2), place_in("a.yaml", 1, 2));
  EXPECT_FALSE(place_in("a.yaml", 1, 2) == place_in("b.yaml", 1, 2));
  EXPECT_EQ(Position{}, Position{});
  EXPECT_FALSE(Position{} == place_in("a.yaml", 1, 1));
}

TEST(Position, sorts_by_file_line_and_column_with_unknown_ones_last) {
  std::vector<Position> all = {Position{}, place_in("b", 1, 1), place_in("a", 10, 1), place_in("a", 2, 9),
                               place_in("a", 2, 3)};
  std::sort(all.begin(), all.end());
  const std::vector<Position> expected = {
      place_in("a", 2, 3), place_in("a", 2, 9), place_in("a", 10, 1), place_in("b", 1, 1), {}};
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace tpack
