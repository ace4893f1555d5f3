#include "draw/matrix.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;

const Matrix kMatrix = {"actual", "predicted", {"ant", "bee"}, {"ant", "bee"}, {3, 1, 0, 0}};

TEST(Matrix, a_share_is_that_of_the_row_and_0_in_a_row_of_zeros) {
  EXPECT_EQ(kMatrix.shares(0), (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(kMatrix.shares(1), (std::vector<double>{0, 0}));
}

TEST(Matrix, is_drawn_with_its_names_and_values_and_without_zeros) {
  const std::string svg = svg_matrix(kMatrix);
  EXPECT_THAT(svg, HasSubstr(">3</text>"));
  EXPECT_THAT(svg, HasSubstr(">1</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">0</text>")));
  EXPECT_THAT(svg, HasSubstr(">ant</text>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.765\""));  // 0.06 + 0.94 * 0.75
}

TEST(Matrix, has_no_values_where_there_are_too_many_columns) {
  Matrix large{"actual", "predicted", {"a"}, {}, {}};
  for (int i = 0; i < 21; ++i) {
    large.columns.push_back("c" + std::to_string(i));
    large.values.push_back(7);
  }
  EXPECT_THAT(svg_matrix(large), Not(HasSubstr(">7</text>")));
  const auto squares = [&] {
    const std::string svg = svg_matrix(large);
    size_t count = 0;
    for (size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(squares(), 21U);
  large.values[3] = 0;
  EXPECT_EQ(squares(), 20U);
}

/// White for none of a row, the darkest blue for all of it.
TEST(Matrix, its_image_is_darker_for_larger_shares) {
  const Tensor image = matrix_image({"", "", {"a", "b"}, {"a", "b"}, {4, 0, 1, 1}});
  ASSERT_EQ(image.shape(), (Shape{48, 48, 3}));
  const auto red = [&](int64_t y, int64_t x) { return image.at((y * 48 + x) * 3); };
  EXPECT_EQ(red(0, 0), 29);
  EXPECT_EQ(red(0, 24), 255);
  EXPECT_EQ(red(24, 47), 142);
}

}  // namespace
}  // namespace tpack
