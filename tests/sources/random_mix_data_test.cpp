#include <algorithm>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Counts from `first`.
std::string from(const std::string& source, int64_t size, int64_t first) {
  return "[" + source + ": " + std::to_string(size) + ", Compute: {k: k + " + std::to_string(first) +
         "}, SelectComponent: [k]]";
}
std::string mix_of(const std::string& source) {
  return "[RandomMixData: [" + from(source, 40, 0) + ", " + from("Counting", 9, 100) + ", " +
         from("Counting", 1, 200) + "]]";
}

TEST(RandomMixData, has_each_sample_once_in_the_order_of_its_flow) {
  const DataFlow flow = yaml_flow(mix_of("Counting"));
  EXPECT_EQ(flow.size(), 50);
  for (int64_t pass = 0; pass < 20; ++pass) {
    const Integers order = first_component(flow, {.seed = 3, .pass = pass});
    Integers of_first;
    Integers of_second;
    for (const int64_t k : order) (k < 100 ? of_first : of_second).push_back(k);
    ASSERT_EQ(of_first.size(), 40U);
    EXPECT_TRUE(std::is_sorted(of_first.begin(), of_first.end()));
    of_second.erase(std::remove(of_second.begin(), of_second.end(), 200), of_second.end());
    ASSERT_EQ(of_second.size(), 9U);
    EXPECT_TRUE(std::is_sorted(of_second.begin(), of_second.end()));
  }
}

TEST(RandomMixData, mixes_by_length_and_differently_in_each_pass) {
  const DataFlow flow = yaml_flow(mix_of("Counting"));
  const Integers order = first_component(flow, {.seed = 3});
  EXPECT_NE(order, first_component(flow, {.seed = 3, .pass = 1}));
  EXPECT_NE(order, first_component(flow, {.seed = 4}));
  int in_first_half = 0;
  for (int64_t pass = 0; pass < 100; ++pass) {
    const Integers one = first_component(flow, {.pass = pass});
    in_first_half += static_cast<int>(
        std::count_if(one.begin(), one.begin() + 25, [](int64_t k) { return k >= 100 && k < 200; }));
  }
  EXPECT_NEAR(in_first_half, 450, 40) << "half of the 9 samples, over 100 passes";
}

TEST(RandomMixData, any_first_flow_is_as_likely_as_its_share) {
  const DataFlow flow =
      yaml_flow("[RandomMixData: [" + from("Counting", 10, 0) + ", " + from("Counting", 10, 100) + "]]");
  int first = 0;
  for (int64_t pass = 0; pass < 400; ++pass)
    first += first_component(flow, {.pass = pass}).front() < 100 ? 1 : 0;
  EXPECT_NEAR(first, 200, 50);
}

TEST(RandomMixData, continues_exactly_at_any_place) {
  for (int64_t size = 1; size < 30; size += 7) {
    const DataFlow flow =
        yaml_flow("[RandomMixData: [" + from("Counting", size, 0) + ", " + from("Counting", 30, 100) + "]]");
    const Integers whole = first_component(flow, {.seed = 5});
    for (int64_t at = 0; at <= size + 30; ++at)
      EXPECT_EQ(first_component(flow, {.seed = 5, .position = at}),
                Integers(whole.begin() + at, whole.end()));
  }
}

TEST(RandomMixData, is_the_same_by_place_and_in_order) {
  // CacheData gives a sequential flow a length; JoinData with a sequential flow is read in order.
  const DataFlow by_place = yaml_flow(mix_of("Counting"));
  EXPECT_EQ(
      first_component(by_place, {.seed = 2}),
      first_component(yaml_flow("[RandomMixData: [[CountingInOrder: 40, CacheData, SelectComponent: [k]], " +
                                from("Counting", 9, 100) + ", " + from("Counting", 1, 200) + "]]"),
                      {.seed = 2}));
}

TEST(RandomMixData, mistakes_have_fixes) {
  expect_errors(
      [](const std::string& flow) { yaml_flow(flow).prepare(); },
      {{"[RandomMixData: []]", {"'flows' is empty"}},
       {"[RandomMixData: [[Counting: 2], [CountingInOrder: 2]]]",
        {"length of flow 2 is unknown", "CacheData"}},
       {"[RandomMixData: [[Counting: 2], [Counting: 2, Filter: k > 0]]]", {"flow 2 drops samples"}},
       {"[RandomMixData: [[Counting: 2, RepeatedData]]]", {"flow 1 never ends", "RandomChooseData"}}});
}

const live::Fields kRandomMixData("source", "RandomMixData",
                                  {.base = "{flows: [[Counting: 2]]}",
                                   .values = {{"flows", "[[Counting: 2], [Counting: 3]]"}}});

}  // namespace
}  // namespace tpack
