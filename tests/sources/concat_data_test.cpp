#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(ConcatData, gives_one_flow_after_the_other) {
  for (const std::string first : {"Counting", "CountingInOrder"}) {
    for (const std::string second : {"Counting", "CountingInOrder"}) {
      const DataFlow flow =
          yaml_flow("[ConcatData: [[" + first + ": 3], [" + second + ": 2], [" + first + ": 1]]]");
      const Integers all = {0, 1, 2, 0, 1, 0};
      EXPECT_EQ(first_component(flow), all);
      for (int64_t at = 0; at <= 6; ++at)
        EXPECT_EQ(first_component(flow, {.position = at}), Integers(all.begin() + at, all.end()));
    }
  }
  EXPECT_EQ(yaml_flow("[ConcatData: [[Counting: 3], [Counting: 2]]]").size(), 5);
}

TEST(ConcatData, flows_drop_and_shuffle_by_themselves) {
  const DataFlow flow =
      yaml_flow("[ConcatData: [[Counting: {size: 20, shuffle: true}, Filter: k != 3], [Counting: 2]]]");
  const Integers order = first_component(flow, {.seed = 1});
  ASSERT_EQ(order.size(), 21U);
  EXPECT_NE(order, first_component(flow, {.seed = 1, .pass = 1}));
  EXPECT_EQ(Integers(order.end() - 2, order.end()), (Integers{0, 1}));
}

TEST(ConcatData, samples_of_different_flows_draw_different_numbers) {
  const Rows all = samples_of(yaml_flow("[ConcatData: [[Counting: 2], [Counting: 2]], Picky]"));
  EXPECT_EQ(all[0][0], all[2][0]);
  EXPECT_NE(all[0][1], all[2][1]) << "the maps after it";
  const Rows before = samples_of(yaml_flow("[ConcatData: [[Counting: 2, Picky], [Counting: 2, Picky]]]"));
  EXPECT_NE(before[0][1], before[2][1]) << "the maps in the flows";
}

TEST(ConcatData, names_samples_by_their_flows) {
  const DataFlow flow = yaml_flow("[ConcatData: [[Counting: 3], [Counting: 3]], Picky: {fail: 2}]");
  EXPECT_TRUE(fails([&] { samples_of(flow); }, {"picky_0", "sample 2 of flow 1", "number 2 is bad"}));
}

TEST(ConcatData, sizes_that_differ_are_unknown) {
  const DataFlow flow = yaml_flow(
      "[ConcatData: [[FakeData: {shapes: [[2, 3]], names: [x]}], [FakeData: {shapes: [[5, 3]], names: "
      "[x]}]]]");
  EXPECT_EQ(flow.spec().str(), "x float32 [?, 3]");
}

TEST(ConcatData, mistakes_name_the_flow_and_the_component) {
  const std::string fake = "FakeData: {shapes: [[2]], names: [x]}";
  expect_errors([](const std::string& flow) { yaml_flow(flow).prepare(); },
                {{"[ConcatData: []]", {"'flows' is empty"}},
                 {"[ConcatData: [[" + fake + "], [Counting: 2]]]",
                  {"flow 2 has the components k, pass, but flow 1 has x", "SelectComponent: [x]"}},
                 {"[ConcatData: [[" + fake + "], [FakeData: {shapes: [[2]], names: [x], dtype: [int32]}]]]",
                  {"'x' of flow 2 has type int32, not float32", "Cast: float32"}},
                 {"[ConcatData: [[" + fake + "], [FakeData: {shapes: [[]], names: [x]}]]]",
                  {"'x' of flow 2 has shape [], not [2]"}},
                 {"[ConcatData: [[" + fake + "], [" + fake + ", BatchData: 2]]]",
                  {"flow 2 has batches", "after the ConcatData"}},
                 {"[ConcatData: [[" + fake + ", RepeatedData], [" + fake + "]]]",
                  {"flow 1 never ends", "RandomChooseData"}}});
}

TEST(ConcatData, class_names_must_agree) {
  const TempFolder folder;
  folder.write_text("a.csv", "x,y\n1,cat\n2,dog\n");
  folder.write_text("b.csv", "x,y\n1,cat\n2,owl\n");
  const auto csv = [](const std::string& file) {
    return "[CSV: {file: " + file + ", columns: {x: x}, labels: {label: y}}]";
  };
  EXPECT_TRUE(
      fails([&] { folder.flow("[ConcatData: [" + csv("a.csv") + ", " + csv("b.csv") + "]]").prepare(); },
            {"'label' of flow 2", "owl", "dog", "same classes"}));
  EXPECT_EQ(samples_of(folder.flow("[ConcatData: [" + csv("a.csv") + ", " + csv("a.csv") + "]]")).size(), 4U);
}

const live::Fields kConcatData("source", "ConcatData",
                               {.base = "{flows: [[Counting: 2]]}",
                                .values = {{"flows", "[[Counting: 2], [Counting: 3]]"}}});

}  // namespace
}  // namespace tpack
