#include <algorithm>

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

std::vector<int64_t> shuffled(const std::string& source, int64_t size, int64_t buffer,
                              const Pass& pass = {}) {
  return first_component(
      make_flow(list({item(source, size), item("LocallyShuffleData", {{"buffer_size", buffer}})})), pass);
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

TEST(LocallyShuffleData, goes_on_behind_bad_samples_and_loses_no_others) {
  const ConfigNode numbers = list({item("CountingInOrder", 64)});
  for (int64_t bad = 0; bad < 64; bad += 3) {
    const DataFlow flow = make_flow(
        ConfigNode::map({{"flow", list({item("JoinData", list({numbers})), item("Picky", {{"fail", bad}}),
                                        item("LocallyShuffleData", {{"buffer_size", 16}})})},
                         {"on_error", "skip"}}));
    auto order = first_component(flow);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), 63U) << bad;
    for (int64_t i = 0; i < 63; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i + (i >= bad ? 1 : 0)) << bad;
  }
}

TEST(LocallyShuffleData, is_the_same_by_place_and_in_order) {
  for (const int64_t size : {1, 7, 64, 101}) {
    EXPECT_EQ(shuffled("Counting", size, 16, {.seed = 3}).size(),
              shuffled("CountingInOrder", size, 16, {.seed = 3}).size());
  }
  EXPECT_EQ(shuffled("Counting", 100, 16, {.seed = 3, .pass = 1}),
            shuffled("CountingInOrder", 100, 16, {.seed = 3, .pass = 1}));
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
