#include <set>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow limited(const std::string& counting, const std::string& limit) {
  return yaml_flow("[Counting: " + counting + ", Limit: " + limit + "]");
}
std::set<int64_t> set_of(const Integers& all) { return {all.begin(), all.end()}; }

TEST(Limit, takes_the_first_samples_of_the_source) {
  const DataFlow flow = limited("10", "3");
  EXPECT_EQ(flow.size(), 3);
  EXPECT_EQ(flow.seek(), Seek::kExact);
  EXPECT_EQ(first_component(flow, {.pass = 4}), (Integers{0, 1, 2}));
  EXPECT_EQ(first_component(limited("2", "3")), (Integers{0, 1})) << "no more than there are";
}

TEST(Limit, has_the_same_samples_in_a_new_order_in_each_pass_if_the_source_shuffles) {
  const DataFlow flow = limited("{size: 100, shuffle: true}", "20");
  std::set<int64_t> expected;
  for (int64_t k = 0; k < 20; ++k) expected.insert(k);
  const auto first = first_component(flow, {.seed = 1, .pass = 0});
  const auto second = first_component(flow, {.seed = 1, .pass = 1});
  EXPECT_EQ(set_of(first), expected);
  EXPECT_EQ(set_of(second), expected);
  EXPECT_NE(first, second);
}

TEST(Limit, draws_a_choice_that_depends_on_its_own_seed_only) {
  const auto choice = [](uint64_t seed_of_run, int64_t seed) {
    const DataFlow flow = limited("{size: 100, shuffle: true}",
                                  "{samples: 20, shuffle: true, seed: " + std::to_string(seed) + "}");
    return set_of(first_component(flow, {.seed = seed_of_run}));
  };
  const std::set<int64_t> chosen = choice(1, 0);
  EXPECT_EQ(chosen.size(), 20U);
  EXPECT_GT(*chosen.rbegin(), 50) << "not the first ones";
  EXPECT_EQ(choice(2, 0), chosen);
  EXPECT_NE(choice(1, 1), chosen);
}

TEST(Limit, keeps_the_partners_of_a_join) {
  const auto part = [](const std::string& name) {
    return "[Counting: {size: 50, shuffle: true}, Limit: {samples: 10, shuffle: true}, RenameComponents: "
           "{names: {k: " +
           name + ", pass: " + name + "_pass}}]";
  };
  const DataFlow flow = yaml_flow("[JoinData: [" + part("a") + ", " + part("b") + "]]");
  int64_t samples = 0;
  const auto cursor = flow.open({.seed = 2});
  for (Datapoint d; cursor->next(d); ++samples) EXPECT_EQ(d.tensor(0).at(0), d.tensor(2).at(0));
  EXPECT_EQ(samples, 10);
}

TEST(Limit, warns_of_classes_that_the_first_samples_lack) {
  const TempFolder folder;
  const std::string text = "x,c\n1,a\n2,a\n3,a\n4,b\n5,b\n6,c\n";
  folder.write_text("t.csv", text);
  const auto warnings = [&](const std::string& limit) {
    testing::internal::CaptureStderr();
    folder.flow("[CSV: {file: t.csv, labels: {c: c}}, Limit: " + limit + "]").prepare();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_TRUE(says(warnings("3"), {"first 3 of 6 samples have no 'c' of class 'b', 'c'",
                                   "Limit: {samples: 3, shuffle: true}"}));
  EXPECT_EQ(warnings("6"), "");
  EXPECT_EQ(warnings("{samples: 3, shuffle: true}"), "");
}

TEST(Limit, comes_right_after_a_source_that_reads_in_any_order) {
  for (const std::string before : {"CountingInOrder: 5", "Counting: 5, PrintData: {num: 0}"})
    EXPECT_TRUE(fails([&] { yaml_flow("[" + before + ", Limit: 3]"); }, {"Limit: ", "right after a source"}));
}

const live::Fields kLimit("stage", "Limit",
                          {.base = "{samples: 3, shuffle: true}", .values = {{"samples", "4"}}});

}  // namespace
}  // namespace tpack
