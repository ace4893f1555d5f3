#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

Integers shuffled(const std::string& source, int64_t size, int64_t buffer, const Pass& pass = {}) {
  return first_component(yaml_flow("[" + source + ": " + std::to_string(size) +
                                   ", LocallyShuffleData: {buffer_size: " + std::to_string(buffer) + "}]"),
                         pass);
}

TEST(LocallyShuffleData, has_each_item_once_and_an_end) {
  for (const int64_t size : {1, 2, 7, 64, 101}) {
    for (const int64_t buffer : {2, 5, 16, 200}) {
      auto order = shuffled("Counting", size, buffer);
      for (size_t at = 0; at < order.size(); ++at) {
        EXPECT_LT(std::abs(order[at] - static_cast<int64_t>(at)), buffer) << "moves too far";
      }
      std::sort(order.begin(), order.end());
      ASSERT_EQ(order.size(), static_cast<size_t>(size));
      for (int64_t i = 0; i < size; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
    }
  }
}

TEST(LocallyShuffleData, shuffles_with_every_buffer_size) {
  constexpr int kSeeds = 20;
  Integers in_order(48);
  std::iota(in_order.begin(), in_order.end(), 0);
  for (const char* source : {"Counting", "CountingInOrder"}) {
    for (const int64_t buffer : {2, 3, 4, 5, 7, 8, 31, 48, 1000}) {
      int shuffled_seeds = 0;
      std::set<Integers> orders;
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto order = shuffled(source, 48, buffer, {.seed = seed});
        EXPECT_EQ(order, shuffled(source, 48, buffer, {.seed = seed}));
        EXPECT_THAT(order, testing::UnorderedElementsAreArray(in_order)) << buffer;
        for (size_t at = 0; at < order.size(); ++at)
          EXPECT_LT(std::abs(order[at] - static_cast<int64_t>(at)), buffer) << "moves too far";
        shuffled_seeds += order != in_order ? 1 : 0;
        orders.insert(order);
      }
      EXPECT_GE(shuffled_seeds, kSeeds - 1) << source << " with a buffer of " << buffer;
      EXPECT_GE(orders.size(), static_cast<size_t>(kSeeds - 1)) << source << " with a buffer of " << buffer;
    }
  }
}

TEST(LocallyShuffleData, small_buffers_move_items_over_every_border) {
  for (const int64_t buffer : {2, 3}) {
    std::vector<int> crossed(47);  // passes in which an item from before the border comes out after it
    for (int64_t pass = 0; pass < 60; ++pass) {
      const auto order = shuffled("Counting", 48, buffer, {.seed = 1, .pass = pass});
      for (size_t border = 0; border < crossed.size(); ++border) {
        const auto before = order.begin() + static_cast<std::ptrdiff_t>(border) + 1;
        crossed[border] += *std::max_element(order.begin(), before) > static_cast<int64_t>(border) ? 1 : 0;
      }
    }
    EXPECT_THAT(crossed, testing::Each(testing::Gt(0))) << buffer;
  }
}

TEST(LocallyShuffleData, continues_exactly_at_any_place) {
  for (const char* source : {"Counting", "CountingInOrder"}) {
    for (const int64_t buffer : {2, 3, 4, 7, 16}) {
      const auto whole = shuffled(source, 23, buffer, {.seed = 5, .pass = 2});
      for (int64_t at = 0; at <= 23; ++at) {
        const Integers rest(whole.begin() + at, whole.end());
        EXPECT_EQ(shuffled(source, 23, buffer, {.seed = 5, .pass = 2, .position = at}), rest) << buffer;
      }
    }
  }
}

TEST(LocallyShuffleData, continues_after_bad_samples_and_loses_no_others) {
  for (int64_t bad = 0; bad < 64; bad += 3) {
    const DataFlow flow =
        yaml_flow("{flow: [JoinData: [[CountingInOrder: 64]], Picky: {fail: " + std::to_string(bad) +
                  "}, LocallyShuffleData: {buffer_size: 16}], on_error: skip}");
    auto order = first_component(flow);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), 63U) << bad;
    for (int64_t i = 0; i < 63; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i + (i >= bad ? 1 : 0)) << bad;
  }
}

TEST(LocallyShuffleData, reuses_items_near_each_other) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow =
        yaml_flow("[" + source + ": 60, LocallyShuffleData: {buffer_size: 8, num_reuse: 3}, Picky]");
    const Rows all = samples_of(flow, {.seed = 2});
    ASSERT_EQ(all.size(), 180U);
    std::map<double, std::set<double>> drawn;
    for (size_t at = 0; at < all.size(); ++at) {
      drawn[all[at][0]].insert(all[at][1]);
      EXPECT_LT(std::abs(3 * all[at][0] - static_cast<double>(at)), 3 * 8) << "moves too far";
    }
    ASSERT_EQ(drawn.size(), 60U);
    for (const auto& [k, numbers] : drawn) EXPECT_EQ(numbers.size(), 3U) << "new random numbers each time";
  }
}

TEST(LocallyShuffleData, is_the_same_by_place_and_in_order) {
  for (const int64_t buffer : {2, 3, 4, 16}) {
    EXPECT_EQ(shuffled("Counting", 100, buffer, {.seed = 3, .pass = 1}),
              shuffled("CountingInOrder", 100, buffer, {.seed = 3, .pass = 1}));
  }
}

TEST(LocallyShuffleData, mixes_over_block_borders_and_differently_in_each_pass) {
  const auto order = shuffled("Counting", 1000, 100, {.seed = 1});
  EXPECT_NE(order, shuffled("Counting", 1000, 100, {.seed = 1, .pass = 1}));
  int crossed = 0;  // out of the blocks of 50
  for (size_t at = 0; at < order.size(); ++at)
    crossed += order[at] / 50 != static_cast<int64_t>(at) / 50 ? 1 : 0;
  EXPECT_GT(crossed, 200);
}

}  // namespace
}  // namespace tpack
