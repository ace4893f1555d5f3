#include <set>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow limited(int64_t size, bool source_shuffles, ConfigNode limit) {
  return make_flow(list(
      {item("Counting", {{"size", size}, {"shuffle", source_shuffles}}), item("Limit", std::move(limit))}));
}
std::set<int64_t> set_of(const std::vector<int64_t>& all) { return {all.begin(), all.end()}; }

TEST(Limit, takes_the_first_samples_of_the_source) {
  const DataFlow flow = limited(10, false, 3);
  EXPECT_EQ(flow.size(), 3);
  EXPECT_EQ(flow.seek(), Seek::kExact);
  EXPECT_EQ(first_component(flow, {.pass = 4}), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(first_component(limited(2, false, 3)), (std::vector<int64_t>{0, 1})) << "no more than there are";
}

TEST(Limit, has_the_same_samples_in_a_new_order_in_each_pass_if_the_source_shuffles) {
  const DataFlow flow = limited(100, true, 20);
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
    const DataFlow flow = limited(100, true, {{"samples", 20}, {"shuffle", true}, {"seed", seed}});
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
    return list({item("Counting", {{"size", 50}, {"shuffle", true}}),
                 item("Limit", {{"samples", 10}, {"shuffle", true}}),
                 item("RenameComponents", {{"names", ConfigNode{{"k", name}, {"pass", name + "_pass"}}}})});
  };
  const DataFlow flow = make_flow(list({item("JoinData", list({part("a"), part("b")}))}));
  int64_t samples = 0;
  const auto cursor = flow.open({.seed = 2});
  for (Datapoint d; cursor->next(d); ++samples) EXPECT_EQ(d.tensor(0).at(0), d.tensor(2).at(0));
  EXPECT_EQ(samples, 10);
}

TEST(Limit, warns_of_classes_that_the_first_samples_lack) {
  const TempFolder folder;
  const std::string text = "x,c\n1,a\n2,a\n3,a\n4,b\n5,b\n6,c\n";
  folder.write("t.csv", {text.begin(), text.end()});
  const auto warnings = [&](ConfigNode limit) {
    const ConfigNode csv = item("CSV", {{"file", folder.path("t.csv")}, {"labels", ConfigNode{{"c", "c"}}}});
    testing::internal::CaptureStderr();
    make_flow(list({csv, item("Limit", std::move(limit))})).prepare();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(warnings(3),
              testing::HasSubstr("the first 3 of 6 samples have no 'c' of class 'b', 'c'; for samples of "
                                 "all classes, write Limit: {samples: 3, shuffle: true}"));
  EXPECT_EQ(warnings(6), "");
  EXPECT_EQ(warnings({{"samples", 3}, {"shuffle", true}}), "");
}

TEST(Limit, comes_right_after_a_source_that_reads_in_any_order) {
  for (const ConfigNode& before :
       {list({item("CountingInOrder", 5), item("Limit", 3)}),
        list({item("Counting", 5), item("PrintData", {{"num", 0}}), item("Limit", 3)})})
    EXPECT_EQ(error_of([&] { make_flow(before); }),
              "Limit: it must come right after a source that reads its samples in any order, such as CSV, "
              "ImageFolder or Npz; put maps and other stages after it");
}

const live::Fields kLimit("stage", "Limit",
                          {.base = "{samples: 3, shuffle: true}", .values = {{"samples", "4"}}});

}  // namespace
}  // namespace tpack
