#include "table/csv_scale.h"

#include <cmath>

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

NumberScaling fitted(ColumnScale kind, const std::vector<float>& numbers) {
  NumberScaling scaling(kind);
  std::vector<float> prepared;
  for (const float x : numbers)
    prepared.push_back(static_cast<float>(*scaling.prepared(static_cast<double>(x))));
  scaling.fit(prepared);
  return scaling;
}
double scaled(const NumberScaling& scaling, double x) { return scaling(*scaling.prepared(x)); }

/// Published values: Abramowitz and Stegun, table 26.5, and the usual critical values.
TEST(NormalQuantile, is_that_of_tables) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655446004, 1e-14);
  EXPECT_NEAR(normal_quantile(0.01), -2.3263478740408408, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-7), -5.199337582192817, 1e-11);
  for (double p = 0.001; p < 1; p += 0.007)
    EXPECT_NEAR(std::erfc(-normal_quantile(p) / std::sqrt(2)) / 2, p, 1e-14);
}

TEST(NumberScaling, of_one_number_is_0_except_with_none) {
  for (const ColumnScale kind :
       {ColumnScale::kStandardize, ColumnScale::kMinMax, ColumnScale::kQuantile, ColumnScale::kLog1p})
    EXPECT_NEAR(scaled(fitted(kind, std::vector<float>(1000, 0.1F)), static_cast<double>(0.1F)), 0, 1e-8)
        << static_cast<int>(kind);
  EXPECT_EQ(scaled(fitted(ColumnScale::kNone, {3, 3, 3}), 3), 3);
}

TEST(NumberScaling, gives_ranks_the_spread_of_a_normal_distribution) {
  std::vector<float> numbers;
  for (int i = 0; i <= 10'000; ++i) numbers.push_back(std::exp(static_cast<float>(i) / 1000));
  const NumberScaling scaling = fitted(ColumnScale::kQuantile, numbers);
  for (const int i : {100, 2500, 5000, 9750})
    EXPECT_NEAR(scaled(scaling, static_cast<double>(numbers[static_cast<size_t>(i)])),
                normal_quantile(i / 10'000.0), 2e-3)
        << "of 1,000 quantiles";
  EXPECT_NEAR(scaled(scaling, -1e9), -5.1993, 1e-4) << "below all others";
  EXPECT_NEAR(scaled(scaling, 1e9), 5.1993, 1e-4);
}

TEST(NumberScaling, comes_back_from_a_state) {
  ColumnScales scales{.of_all = ColumnScale::kQuantile};
  ColumnClips clips{.by_column = {{"a", {-2, 20}}}};
  NumberScaling scaling(scales, clips, "a");
  scaling.fit({1, 2, 2, 3, 8});
  State state;
  scaling.put_into(state);
  const NumberScaling other = NumberScaling::from(State::from_json(state.to_json(), ""));
  for (const double x : {-5.0, 1.0, 1.5, 2.0, 7.0, 30.0})
    EXPECT_EQ(scaled(other, x), scaled(scaling, x)) << x;
  EXPECT_EQ(scaled(other, 20), scaled(other, 2000));
  State unknown;
  unknown.put("mean", 0.0);
  unknown.put("factor", 1.0);
  unknown.put("scale", std::string("cubic"));
  EXPECT_TRUE(fails([&] { NumberScaling::from(unknown); }, {"'cubic'"}));
  State old;  // of a checkpoint before there were scales
  old.put("mean", 2.0);
  old.put("factor", 0.5);
  EXPECT_EQ(scaled(NumberScaling::from(old), 6), 2);
}

}  // namespace
}  // namespace tpack
