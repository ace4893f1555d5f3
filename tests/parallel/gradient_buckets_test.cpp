#include "parallel/gradient_buckets.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

FlatLayout layout_of(const std::vector<int64_t>& sizes) {
  VariableTable table;
  for (size_t i = 0; i < sizes.size(); ++i)
    table.declare({"w" + std::to_string(i), {DType::kFloat32, {sizes[i]}}, VariableScope::kModel, true});
  return flat_layout(table, table.groups().front());
}

TEST(GradientBuckets, are_whole_variables_in_the_order_of_the_block) {
  const FlatLayout layout = layout_of({16, 32, 100, 1, 1});  // padded to 16, 32, 112, 16, 16
  const std::vector<GradientBucket> buckets = gradient_buckets(layout, 48);
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_THAT(buckets[0].variables, testing::ElementsAre("w0", "w1"));
  EXPECT_THAT(buckets[1].variables, testing::ElementsAre("w2"));
  EXPECT_THAT(buckets[2].variables, testing::ElementsAre("w3", "w4"));
  EXPECT_EQ(buckets[1].begin, 48);
  EXPECT_EQ(buckets[1].size, 112);
}

TEST(GradientBuckets, cover_the_block) {
  const FlatLayout layout = layout_of({5, 70, 3, 900, 41, 2});
  for (const int64_t elements : {int64_t{1}, int64_t{16}, int64_t{100}, int64_t{1000}, layout.size}) {
    int64_t end = 0;
    size_t variables = 0;
    for (const GradientBucket& bucket : gradient_buckets(layout, elements)) {
      EXPECT_EQ(bucket.begin, end);
      end += bucket.size;
      variables += bucket.variables.size();
    }
    EXPECT_EQ(end, layout.size);
    EXPECT_EQ(variables, layout.entries.size());
  }
  EXPECT_EQ(gradient_buckets(layout, layout.size).size(), 1U);
  EXPECT_EQ(gradient_buckets(layout, 1).size(), 6U);
}

}  // namespace
}  // namespace tpack
