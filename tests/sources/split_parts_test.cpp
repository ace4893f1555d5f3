#include "sources/split_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "core/rng.h"

namespace tpack {
namespace {

using testing::ThrowsMessage;

std::vector<int64_t> counts_of(const std::vector<size_t>& parts, size_t count) {
  std::vector<int64_t> counts(count);
  for (const size_t part : parts) ++counts.at(part);
  return counts;
}

TEST(SplitParts, have_their_shares_of_each_stratum) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<int32_t> strata(3 + rng.below(400));
    for (int32_t& stratum : strata) stratum = static_cast<int32_t>(rng.below(1 + rng.below(7)));
    const std::vector<double> shares = {0.55, 0.15, 0.3};
    const std::vector<size_t> parts = stratified_parts(strata, shares, rng.next64(), false);
    ASSERT_EQ(parts.size(), strata.size());
    std::map<int32_t, std::vector<double>> lacks;  // of a stratum, by part
    for (size_t i = 0; i < strata.size(); ++i) {
      auto& lack = lacks.try_emplace(strata[i], 3).first->second;
      for (size_t part = 0; part < 3; ++part) lack[part] += shares[part] - (part == parts[i] ? 1 : 0);
    }
    std::vector<double> whole(3);
    for (const auto& [stratum, lack] : lacks) {
      for (size_t part = 0; part < 3; ++part) {
        EXPECT_LT(std::abs(lack[part]), 2);
        whole[part] += lack[part];
      }
    }
    for (const double lack : whole) EXPECT_LT(std::abs(lack), 1);
  }
}

TEST(SplitParts, of_equal_shares_are_folds_that_differ_by_one_at_most) {
  std::vector<int32_t> strata(103);
  for (size_t i = 0; i < strata.size(); ++i) strata[i] = i % 10 == 0 ? 1 : 0;
  const std::vector<size_t> parts = stratified_parts(strata, std::vector<double>(5, 0.2), 3, false);
  for (const int64_t count : counts_of(parts, 5)) EXPECT_THAT(count, testing::AnyOf(20, 21));
  std::vector<int64_t> rare(5);
  for (size_t i = 0; i < strata.size(); ++i) rare[parts[i]] += strata[i];
  for (const int64_t count : rare) EXPECT_THAT(count, testing::AnyOf(2, 3));
}

TEST(SplitParts, leave_a_sample_of_each_class_to_the_training) {
  const std::vector<int32_t> strata = {0, 1, 2, 3, 4, 5, 6, 7, 8, 8};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<size_t> parts = stratified_parts(strata, {0.5, 0.5}, seed, true);
    std::set<int32_t> seen;
    for (size_t i = 0; i < strata.size(); ++i)
      if (parts[i] == 0) seen.insert(strata[i]);
    EXPECT_EQ(seen.size(), 9U);
  }
}

TEST(SplitParts, depend_on_the_seed) {
  const std::vector<int32_t> strata(200);
  const auto parts = [&](uint64_t seed) { return stratified_parts(strata, {0.5, 0.5}, seed, true); };
  EXPECT_EQ(parts(1), parts(1));
  EXPECT_NE(parts(1), parts(2));
}

/// Else all of them would be in one part.
TEST(SplitParts, take_a_sample_without_a_group_for_one_by_itself) {
  const std::vector<std::string> groups(100, "");
  EXPECT_EQ(counts_of(grouped_parts(groups, {0.8, 0.2}, 1), 2), (std::vector<int64_t>{80, 20}));
  std::vector<std::string> some(100, "NA");
  for (size_t i = 0; i < 50; ++i) some[i] = "a";
  const std::vector<size_t> parts = grouped_parts(some, {0.5, 0.5}, 1);
  for (size_t i = 1; i < 50; ++i) EXPECT_EQ(parts[i], parts[0]);
  EXPECT_EQ(counts_of(parts, 2), (std::vector<int64_t>{50, 50}));
}

TEST(SplitParts, keep_groups_together) {
  Rng rng(5);
  std::vector<std::string> groups;
  for (int i = 0; i < 500; ++i) groups.push_back("patient " + std::to_string(rng.below(40)));
  const std::vector<size_t> parts = grouped_parts(groups, {0.6, 0.2, 0.2}, 1);
  std::map<std::string, size_t> part_of;
  for (size_t i = 0; i < groups.size(); ++i)
    EXPECT_EQ(part_of.try_emplace(groups[i], parts[i]).first->second, parts[i]);
  const std::vector<int64_t> counts = counts_of(parts, 3);
  EXPECT_NEAR(static_cast<double>(counts[0]), 300, 15);
  EXPECT_NEAR(static_cast<double>(counts[1]), 100, 15);
}

TEST(SplitParts, in_order_begin_with_the_training) {
  EXPECT_EQ(ordered_parts({"3", "1", "10", "2", "4"}, {0.6, 0.2, 0.2}), (std::vector<size_t>{0, 0, 2, 0, 1}));
  EXPECT_EQ(ordered_parts({"2020-02-01", "2019-12-31", "2020-01-15", "2020-03-01"}, {0.5, 0.5}),
            (std::vector<size_t>{1, 0, 0, 1}));
  EXPECT_EQ(ordered_parts({"1", "2", "2", "2"}, {0.5, 0.5}), (std::vector<size_t>{0, 1, 1, 1}))
      << "one day is in one part";
  EXPECT_THAT(
      [] {
        ordered_parts({"1", "3/4/2020"}, {0.5, 0.5});
      },
      ThrowsMessage<DataError>("'1' is neither a number nor a date such as 2020-04-03 or 2020-04-03 9:00"));
}

TEST(SplitParts, have_the_order_of_times_not_of_their_texts) {
  const std::vector<size_t> later_last{0, 1, 0, 1};
  EXPECT_EQ(ordered_parts({"2011-01-01 9:00", "2011-01-01 10:00", "2011-01-01 8:59", "2011-01-01 23:00"},
                          {0.5, 0.5}),
            later_last);
  EXPECT_EQ(ordered_parts({"28.02.2020", "01.03.2020", "27.02.2020", "02.03.2020"}, {0.5, 0.5}), later_last);
  EXPECT_EQ(ordered_parts({"2/28/2020", "11/1/2020", "2/27/2020", "10/2/2020"}, {0.5, 0.5}), later_last);
  EXPECT_EQ(ordered_parts({"2020-01-01T10:00:00+02:00", "2020-01-01T09:00:00Z", "2020-01-01T07:00:00Z",
                           "2020-01-01T10:00:00-01:00"},
                          {0.5, 0.5}),
            later_last);
  EXPECT_EQ(ordered_parts({"2020-01-01 10:00:00.25", "2020-01-01 10:00:00.5", "2020-01-01 10:00:00.1",
                           "2020-01-01 10:00:00.75"},
                          {0.5, 0.5}),
            later_last)
      << "within a second";
  EXPECT_THAT(
      [] {
        ordered_parts({"1/2/2020", "3/4/2020"}, {0.5, 0.5});
      },
      ThrowsMessage<DataError>(testing::HasSubstr("where day and month are ambiguous")));
}

TEST(SplitParts, of_hashes_stay_when_samples_are_added) {
  std::vector<std::string> keys;
  for (int i = 0; i < 2000; ++i) keys.push_back("cats/" + std::to_string(i) + ".jpg");
  const std::vector<size_t> all = hashed_parts(keys, {0.7, 0.1, 0.2}, 0);
  const std::vector<int64_t> counts = counts_of(all, 3);
  EXPECT_NEAR(static_cast<double>(counts[1]), 200, 50);
  EXPECT_NEAR(static_cast<double>(counts[2]), 400, 70);
  keys.erase(keys.begin(), keys.begin() + 700);
  EXPECT_EQ(hashed_parts(keys, {0.7, 0.1, 0.2}, 0), std::vector<size_t>(all.begin() + 700, all.end()));
  EXPECT_NE(hashed_parts(keys, {0.7, 0.1, 0.2}, 1), std::vector<size_t>(all.begin() + 700, all.end()));
}

}  // namespace
}  // namespace tpack
