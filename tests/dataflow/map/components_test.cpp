#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"
#include "system/log.h"

namespace tpack {
namespace {

DataFlow renamed(const std::string& names) {
  return yaml_flow("[Counting: 3, RenameComponents: {names: {" + names + "}}]");
}

TEST(RenameComponents, changes_names_and_nothing_else) {
  const DataFlow flow = renamed("k: number");
  EXPECT_EQ(flow.spec().str(), "number int64 [], pass int64 []");
  Datapoint d = first_sample(flow, {.pass = 5, .position = 2});
  EXPECT_EQ(d.tensor(0).at(0), 2);
  EXPECT_EQ(d.tensor(1).at(0), 5);
}

TEST(RenameComponents, takes_the_names_as_they_are) {
  EXPECT_EQ(yaml_flow("[Counting: 3, RenameComponents: {k: number}]").spec().str(),
            "number int64 [], pass int64 []");
  EXPECT_EQ(yaml_flow("[Counting: 3, RenameComponents: {k: names}]").spec().str(),
            "names int64 [], pass int64 []");
}

TEST(RenameComponents, may_exchange_two_names) {
  EXPECT_EQ(renamed("k: pass, pass: k").spec().str(), "pass int64 [], k int64 []");
}

TEST(RenameComponents, rejects_a_name_twice_and_one_that_is_unknown) {
  EXPECT_TRUE(fails([] { renamed("k: pass"); }, {"RenameComponents", "'pass'", "another name"}));
  EXPECT_TRUE(fails([] { renamed("kk: x"); }, {"unknown component 'kk'"}));
}

const live::Fields kRenameComponents("map", "RenameComponents",
                                     {.base = "{names: {image: a}}", .values = {{"names", "{image: b}"}}});

TEST(SelectComponent, keeps_and_reorders) {
  const DataFlow flow = yaml_flow("[Counting: 3, SelectComponent: [1, k]]");
  EXPECT_EQ(flow.spec().str(), "pass int64 [], k int64 []");
  Datapoint d = first_sample(flow, {.pass = 7, .position = 2});
  EXPECT_EQ(d.tensor(0).at(0), 7);
  EXPECT_EQ(d.tensor(1).at(0), 2);
}

TEST(SelectComponent, reordered_components_reach_their_own_batch) {
  const DataFlow flow = yaml_flow("[Counting: 4, SelectComponent: [pass, k], BatchData: 4]");
  const auto stream = flow.stream({.workers = 2, .slots = 2, .position = {9, 0}});
  const auto batch = stream->next();
  EXPECT_TRUE(bit_equal(batch->tensor(0), Tensor::of<int64_t>({4}, {9, 9, 9, 9})));
  EXPECT_TRUE(bit_equal(batch->tensor(1), Tensor::of<int64_t>({4}, {0, 1, 2, 3})));
}

TEST(SelectComponent, rejects_a_component_twice) {
  EXPECT_TRUE(fails([] { yaml_flow("[Counting: 3, SelectComponent: [k, 0]]"); }, {"SelectComponent", "'k'"}));
}

TEST(PrintData, logs_the_first_datapoints_only) {
  const TempFolder folder;
  log::to_file(folder.path("log.txt"));
  first_component(yaml_flow("[Counting: 5, PrintData: {num: 2, name: here}]"));
  log::close_file();
  std::ifstream in(folder.path("log.txt"));
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(says(text, {"here: sample 1 of pass 0; k: int64 [] from 1 to 1; pass: int64 [] from 0 to 0"}));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("sample 2")));
}

}  // namespace
}  // namespace tpack
