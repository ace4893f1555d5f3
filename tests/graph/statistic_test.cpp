#include "graph/statistic.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tpack {
namespace {

Tensor number(double value) { return Tensor::of<double>({}, {value}); }

class TallyTest : public testing::Test {
 protected:
  Statistic statistic(const Shape& shape) { return {"x", b_.constant(0, shape), b_.constant(1)}; }

 private:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
};

TEST_F(TallyTest, is_the_mean_over_batches_of_any_size) {
  Tally tally(statistic({}));
  EXPECT_EQ(tally.weight(), 0);
  EXPECT_TRUE(std::isnan(tally.value()));
  tally.add(number(6), number(4));
  tally.add(number(4), number(1));
  EXPECT_EQ(tally.value(), 2);
  EXPECT_EQ(tally.weight(), 5);
  tally.clear();
  EXPECT_EQ(tally.weight(), 0);
}

/// The larger one of two parts, in place of their sum.
class KeepLarger final : public Accumulation {
 public:
  void add(std::span<double> total, std::span<const double> more) const override {
    for (size_t i = 0; i < total.size(); ++i) total[i] = std::max(total[i], more[i]);
  }
  double value(std::span<const double> total) const override { return total[1] - total[0]; }
};

TEST_F(TallyTest, adds_up_as_the_statistic_says) {
  Statistic largest = statistic({2});
  largest.accumulation = std::make_shared<const KeepLarger>();
  Tally tally(largest);
  tally.add(Tensor::of<double>({2}, {3, 5}), number(1));
  tally.add(Tensor::of<double>({2}, {1, 9}), number(1));
  EXPECT_EQ(tally.value(), 6);
}

TEST_F(TallyTest, of_a_share_of_nothing_is_0) {
  Statistic of_nothing = statistic({});
  of_nothing.accumulation = share();
  Tally tally(of_nothing);
  tally.add(number(0), number(0));
  EXPECT_EQ(tally.value(), 0);
  tally.add(number(1), number(4));
  EXPECT_EQ(tally.value(), 0.25);
}

/// The largest of all values of all samples.
class LargestOfRows final : public Accumulation {
 public:
  bool gathers() const override { return true; }
  double value(std::span<const double> total) const override {
    return *std::max_element(total.begin(), total.end() - 1);
  }
};

class GatheringTallyTest : public TallyTest {
 protected:
  Tally tally() {
    Statistic rows = statistic({3, 2});
    rows.accumulation = std::make_shared<const LargestOfRows>();
    return Tally(rows);
  }
};

TEST_F(GatheringTallyTest, has_the_rows_of_batches_of_any_size) {
  Tally all = tally();
  EXPECT_FALSE(all.has_value());
  all.add(Tensor::of<double>({3, 2}, {1, 2, 3, 4, 5, 6}), number(3));
  all.add(Tensor::of<double>({1, 2}, {9, 8}), number(1));
  EXPECT_EQ(all.weight(), 4);
  EXPECT_EQ(all.value(), 9);
  EXPECT_EQ(all.parts(), (std::vector<double>{1, 2, 3, 4, 5, 6, 9, 8, 4}));
  all.clear();
  EXPECT_EQ(all.weight(), 0);
  EXPECT_EQ(all.parts().size(), 1U);
}

TEST_F(GatheringTallyTest, takes_those_of_other_towers_and_of_a_checkpoint) {
  Tally first = tally();
  first.add(Tensor::of<double>({1, 2}, {1, 2}), number(1));
  Tally second = tally();
  second.set_parts({7, 5, 3, 4, 2});
  second.set_parts({7, 5, 3, 4});  // of another statistic: no whole rows
  second.set_parts({});
  second.add(first);
  EXPECT_EQ(second.parts(), (std::vector<double>{7, 5, 3, 4, 1, 2, 3}));
  EXPECT_TRUE(second.has_value());
}

TEST_F(TallyTest, goes_on_from_stored_parts) {
  Tally first(statistic({}));
  first.add(number(6), number(4));
  Tally second(statistic({}));
  second.set_parts(first.parts());
  second.add(number(4), number(1));
  EXPECT_EQ(second.value(), 2);
  second.set_parts({});  // of a checkpoint without them
  EXPECT_EQ(second.value(), 2);
}

}  // namespace
}  // namespace tpack
