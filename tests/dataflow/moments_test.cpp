#include "dataflow/moments.h"

#include <limits>

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(Moments, are_those_of_the_numbers_that_came) {
  Moments moments;
  for (const double x : {1e9 + 2.0, 1e9 + 4.0, 1e9 + 9.0}) moments.add(x);
  moments.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(moments.count, 3);
  EXPECT_DOUBLE_EQ(moments.mean, 1e9 + 5);
  EXPECT_DOUBLE_EQ(moments.deviation(), std::sqrt(26.0 / 3));
}

TEST(Moments, of_the_columns_of_a_flow) {
  TempFolder folder;
  const std::string text = "a,b\n1,10\n2,20\n3,60\n4,90\n";
  folder.write_text("a.csv", text);
  for (const char* const batch : {"", ", BatchData: {batch_size: 2}"}) {
    const DataFlow flow = folder.flow("[CSV: {file: a.csv, columns: {x: [a, b]}}" + std::string(batch) + "]");
    const std::vector<Moments> all = moments_of(flow, "x", 2, 100);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].count, 4);
    EXPECT_DOUBLE_EQ(all[0].mean, 2.5);
    EXPECT_DOUBLE_EQ(all[0].deviation(), std::sqrt(1.25));
    EXPECT_DOUBLE_EQ(all[1].mean, 45);
    EXPECT_EQ(moments_of(flow, "x", 2, 1)[0].count, 1) << "samples, not batches";
    EXPECT_THROW(moments_of(flow, "y", 1, 100), ConfigError);
  }
}

TEST(Moments, of_two_parts_are_those_of_the_whole) {
  Moments whole;
  Moments first;
  Moments second;
  for (int i = 0; i < 100; ++i) {
    const double x = 1e6 + i * i;
    whole.add(x);
    (i < 30 ? first : second).add(x);
  }
  Moments sum;
  sum.add(first);
  sum.add(Moments());
  sum.add(second);
  EXPECT_EQ(sum.count, 100);
  EXPECT_NEAR(sum.mean, whole.mean, 1e-9);
  EXPECT_NEAR(sum.deviation(), whole.deviation(), 1e-9);
}

}  // namespace
}  // namespace tpack
