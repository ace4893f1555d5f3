#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow renamed(ConfigNode names) {
  return make_flow(list({item("Counting", 3), item("RenameComponents", {{"names", std::move(names)}})}));
}

TEST(RenameComponents, changes_names_and_nothing_else) {
  const DataFlow flow = renamed(ConfigNode::map({{"k", "number"}}));
  EXPECT_EQ(flow.spec().str(), "number int64 [], pass int64 []");
  Datapoint d;
  ASSERT_TRUE(flow.open({.pass = 5, .position = 2})->next(d));
  EXPECT_EQ(d.tensor(0).at(0), 2);
  EXPECT_EQ(d.tensor(1).at(0), 5);
}

TEST(RenameComponents, may_exchange_two_names) {
  EXPECT_EQ(renamed(ConfigNode::map({{"k", "pass"}, {"pass", "k"}})).spec().str(),
            "pass int64 [], k int64 []");
}

TEST(RenameComponents, rejects_a_name_twice_and_one_that_is_unknown) {
  EXPECT_EQ(error_of([] {
              renamed(ConfigNode::map({{"k", "pass"}}));
            }),
            "map RenameComponents: two components would be called 'pass'; choose another name");
  EXPECT_THAT(error_of([] {
                renamed(ConfigNode::map({{"kk", "x"}}));
              }),
              testing::HasSubstr("unknown component 'kk'"));
}

const live::Fields kRenameComponents("map", "RenameComponents",
                                     {.base = "{names: {image: a}}", .values = {{"names", "{image: b}"}}});

}  // namespace
}  // namespace tpack
