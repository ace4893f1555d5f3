#include <algorithm>

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

/// Pixels of sample `index` of a pass.
std::vector<uint8_t> picture(const char* split, Pass pass, double difficulty = 1) {
  const DataFlow flow =
      make_flow(list({item("RenderedDigits", {{"split", split}, {"difficulty", difficulty}})}));
  Datapoint d;
  flow.open(pass)->next(d);
  const auto pixels = d.tensor(0).span<uint8_t>();
  return {pixels.begin(), pixels.end()};
}

TEST(RenderedDigits, training_pictures_differ_in_each_pass_and_seed) {
  const auto first = picture("train", {.seed = 1});
  EXPECT_EQ(first, picture("train", {.seed = 1}));
  EXPECT_NE(first, picture("train", {.seed = 2}));
  EXPECT_NE(first, picture("train", {.seed = 1, .pass = 1}));
}

TEST(RenderedDigits, test_pictures_never_change) {
  const auto first = picture("test", {.seed = 1});
  EXPECT_EQ(first, picture("test", {.seed = 2, .pass = 5}));
}

TEST(RenderedDigits, has_all_digits_about_equally_often) {
  const DataFlow flow = make_flow(list({item("RenderedDigits", {{"split", "test"}, {"resolution", 32}})}));
  EXPECT_EQ(flow.spec()[0].tensor.str(), "uint8 [32, 32, 1]");
  EXPECT_EQ(flow.size(), 5000);
  std::vector<int> count(10);
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) ++count[static_cast<size_t>(d.tensor(1).at(0))];
  double chi_square = 0;
  for (const int seen : count) chi_square += (seen - 500) * (seen - 500) / 500.0;
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, p = 0.001
}

TEST(RenderedDigits, without_difficulty_paper_is_black_and_ink_is_white) {
  const auto pixels = picture("test", {}, 0);
  EXPECT_EQ(*std::min_element(pixels.begin(), pixels.end()), 0);
  EXPECT_GT(*std::max_element(pixels.begin(), pixels.end()), 200);
  EXPECT_EQ(pixels[0], 0);
}

}  // namespace
}  // namespace tpack
