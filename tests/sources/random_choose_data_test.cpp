#include <algorithm>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

std::string choose(const std::string& source, const std::string& end, const std::string& probabilities) {
  return "[RandomChooseData: {flows: [[" + source + ": 1000" + end + "], [" + source +
         ": 1000, Compute: {k: k + 1000}" + end + "]], probabilities: " + probabilities +
         "}, SelectComponent: [k]]";
}

TEST(RandomChooseData, draws_by_probability_and_keeps_the_order_of_each_flow) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const Integers all = first_component(yaml_flow(choose(source, "", "[0.8, 0.2]")), {.seed = 1});
    Integers first;
    Integers second;
    for (const int64_t k : all) (k < 1000 ? first : second).push_back(k);
    ASSERT_EQ(first.size(), 1000U) << "the pass ends when the first flow is drawn once more";
    for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], static_cast<int64_t>(i));
    for (size_t i = 0; i < second.size(); ++i) EXPECT_EQ(second[i], static_cast<int64_t>(1000 + i));
    EXPECT_NEAR(static_cast<double>(second.size()), 250, 60);
  }
}

TEST(RandomChooseData, draws_are_independent) {
  const Integers all = first_component(yaml_flow(choose("Counting", "", "[0.5, 0.5]")), {.seed = 1});
  std::vector<int> pairs(4);
  for (size_t i = 0; i + 1 < all.size(); i += 2)
    ++pairs[(all[i] < 1000 ? 2 : 0) + (all[i + 1] < 1000 ? 1 : 0)];
  const double expected = static_cast<double>(all.size()) / 8;
  for (const int count : pairs) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
}

TEST(RandomChooseData, is_the_same_by_place_and_in_order) {
  for (int64_t pass = 0; pass < 3; ++pass)
    EXPECT_EQ(
        first_component(yaml_flow(choose("Counting", "", "[0.6, 0.4]")), {.seed = 1, .pass = pass}),
        first_component(yaml_flow(choose("CountingInOrder", "", "[0.6, 0.4]")), {.seed = 1, .pass = pass}));
}

TEST(RandomChooseData, of_endless_flows_is_endless_and_found_at_once) {
  const DataFlow flow = yaml_flow(choose("Counting", ", RepeatedData", "[0.6, 0.4]"));
  EXPECT_EQ(flow.size(), kEndless);
  EXPECT_EQ(flow.seek(), Seek::kExact);
  const auto whole = flow.open({});
  whole->skip(12345);
  Datapoint d;
  ASSERT_TRUE(whole->next(d));
  const auto later = flow.open({.position = 12345});
  Datapoint same;
  ASSERT_TRUE(later->next(same));
  EXPECT_EQ(d.tensor(0).at(0), same.tensor(0).at(0));
}

TEST(RandomChooseData, is_the_same_for_any_number_of_workers_and_from_any_place) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const std::string samples = choose(source, ", Picky", "[0.6, 0.4]");
    const DataFlow flow = yaml_flow(samples.substr(0, samples.size() - 1) + ", BatchData: 64]");
    const auto whole = numbers_of(*flow.stream({.workers = 1, .slots = 1, .passes = 2}));
    for (const size_t workers : {2U, 7U})
      EXPECT_EQ(numbers_of(*flow.stream({.workers = workers, .slots = 3, .passes = 2})), whole);
    const auto rest = numbers_of(*flow.stream({.workers = 2, .slots = 3, .position = {0, 5}, .passes = 2}));
    EXPECT_EQ(rest, Numbers(whole.begin() + 5 * 64, whole.end()));
  }
}

TEST(RandomChooseData, mistakes_have_fixes) {
  const auto with = [](const std::string& probabilities) {
    return "[RandomChooseData: {flows: [[Counting: 2], [Counting: 2]], probabilities: " + probabilities +
           "}]";
  };
  expect_errors([](const std::string& flow) { yaml_flow(flow); },
                {{"[RandomChooseData: []]", {"'flows' is empty"}},
                 {with("[1]"), {"1 numbers for 2 flows"}},
                 {with("[0.5, 0.4]"), {"sum of 'probabilities' is 0.9", "must be 1"}},
                 {with("[1, 0]"), {"above 0", "remove a flow"}}});
}

const live::Fields kRandomChooseData(
    "source", "RandomChooseData",
    {.base = "{flows: [[Counting: 20], [Counting: {size: 20, shuffle: true}]]}",
     .values = {{"flows", "[[Counting: 20], [Counting: 30]]"}, {"probabilities", "[0.9, 0.1]"}}});

}  // namespace
}  // namespace tpack
