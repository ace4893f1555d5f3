#include <map>
#include <set>

#include "dataflow/flow_helpers.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Rows 0 .. 99: 91 of class `no`, 6 of `yes`, 3 of `maybe`.
class ClassBalancedFlows : public testing::Test {
 protected:
  ClassBalancedFlows() {
    std::string text = "row,answer\n";
    for (int row = 0; row < 100; ++row)
      text += std::to_string(row) + "," + (row % 15 == 14 ? "yes" : row % 33 == 5 ? "maybe" : "no") + "\n";
    folder_.write_text("a.csv", text);
  }
  DataFlow flow(const std::string& stage, const std::string& rest = "") const {
    const std::string items =
        "CSV: {file: a.csv, columns: {row: row}, labels: {answer: {column: answer, classes: [no, yes, "
        "maybe]}}}, " +
        stage + rest;
    return folder_.flow("{flow: [" + items + "], workers: " + std::to_string(workers_) + "}");
  }
  static std::map<int64_t, int64_t> counts(const DataFlow& flow, size_t component, const Pass& pass = {}) {
    std::map<int64_t, int64_t> all;
    const auto cursor = flow.open(pass);
    for (Datapoint d; cursor->next(d);) ++all[static_cast<int64_t>(d.tensor(component).at(0))];
    return all;
  }

  TempFolder folder_;
  int workers_ = 1;
};

TEST_F(ClassBalancedFlows, a_pass_has_each_class_equally_often) {
  const DataFlow balanced = flow("ClassBalanced: answer");
  balanced.prepare();
  EXPECT_EQ(balanced.size(), 100);
  EXPECT_EQ(balanced.seek(), Seek::kExact);
  EXPECT_THAT(counts(balanced, 1),
              testing::ElementsAre(testing::Pair(0, 34), testing::Pair(1, 33), testing::Pair(2, 33)));
}

TEST_F(ClassBalancedFlows, the_samples_of_a_class_come_equally_often) {
  const DataFlow balanced = flow("ClassBalanced: {component: answer, samples: 300}");
  int64_t yes = 0;
  int64_t maybe = 0;
  for (const auto& [row, count] : counts(balanced, 0, {.seed = 3, .pass = 1})) {
    const bool is_yes = row % 15 == 14;
    const bool is_maybe = !is_yes && row % 33 == 5;
    const int64_t least = is_maybe ? 33 : is_yes ? 16 : 1;
    EXPECT_TRUE(count == least || count == least + 1) << row << " comes " << count << " times";
    yes += is_yes ? count : 0;
    maybe += is_maybe ? count : 0;
  }
  EXPECT_EQ(yes, 100);
  EXPECT_EQ(maybe, 100);
}

TEST_F(ClassBalancedFlows, draws_none_twice_if_the_smallest_class_suffices) {
  const DataFlow balanced = flow("ClassBalanced: {component: answer, samples: 9}");
  const auto first = counts(balanced, 0, {.pass = 0});
  const auto second = counts(balanced, 0, {.pass = 1});
  EXPECT_EQ(first.size(), 9U);
  EXPECT_NE(first, second) << "another pass has other samples of the large classes";
}

TEST_F(ClassBalancedFlows, is_the_same_with_workers_shards_and_after_a_break) {
  const auto rows = [&](const Pass& pass) { return first_component(flow("ClassBalanced: answer"), pass); };
  const Integers all = rows({.seed = 4, .pass = 2});
  const Integers rest = rows({.seed = 4, .pass = 2, .position = 60});
  EXPECT_EQ(rest, Integers(all.begin() + 60, all.end()));
  Integers sharded(all.size());
  for (int64_t shard = 0; shard < 3; ++shard) {
    size_t at = static_cast<size_t>(shard);
    for (const int64_t row : rows({.seed = 4, .pass = 2, .shard = shard, .shard_count = 3})) {
      sharded[at] = row;
      at += 3;
    }
  }
  EXPECT_EQ(sharded, all);
  const auto batches = [&] {
    const DataFlow made = flow("ClassBalanced: answer", ", BatchData: 10");
    const auto stream = made.stream({.seed = 4, .passes = 3});
    return numbers_of(*stream);
  };
  const auto alone = batches();
  workers_ = 4;
  EXPECT_EQ(batches(), alone);
}

TEST_F(ClassBalancedFlows, a_sample_that_comes_again_has_other_random_numbers) {
  const DataFlow balanced = flow("ClassBalanced: {component: answer, samples: 300}",
                                 ", MapData: {component: row, map: {Cast: int64}}, Picky");
  std::map<int64_t, Numbers> random;
  const auto cursor = balanced.open({.seed = 1});
  for (Datapoint d; cursor->next(d);) random[d.id().index].push_back(d.tensor(1).at(0));
  for (auto& [row, all] : random) {
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end()) << row;
  }
}

/// Batches of 6 have two classes, three samples each; three rows have all classes.
TEST_F(ClassBalancedFlows, rows_are_of_one_class) {
  const DataFlow rows = flow("ClassBalanced: {component: answer, samples: 90, in_a_row: 3}");
  std::set<Integers> orders;
  for (int64_t number = 0; number < 2; ++number) {
    const auto cursor = rows.open({.seed = 3, .pass = number});
    Integers labels;
    Integers samples;
    for (Datapoint d; cursor->next(d);) {
      samples.push_back(static_cast<int64_t>(d.tensor(0).at(0)));
      labels.push_back(static_cast<int64_t>(d.tensor(1).at(0)));
    }
    ASSERT_EQ(labels.size(), 90U);
    for (size_t i = 0; i < 90; i += 9) {
      EXPECT_EQ(std::set<int64_t>(&labels[i], &labels[i] + 9).size(), 3U) << i;
      EXPECT_GE(std::set<int64_t>(&samples[i], &samples[i] + 9).size(), 9U) << i;
    }
    for (size_t i = 0; i < 90; i += 3)
      EXPECT_EQ(std::set<int64_t>(&labels[i], &labels[i] + 3).size(), 1U) << i;
    orders.insert(labels);
  }
  EXPECT_EQ(orders.size(), 2U);
  const auto numbers = [&](const Pass& pass) {
    return first_component(flow("ClassBalanced: {component: answer, in_a_row: 4}"), pass);
  };
  const Integers all = numbers({.seed = 4, .pass = 2});
  EXPECT_EQ(numbers({.seed = 4, .pass = 2, .position = 60}), Integers(all.begin() + 60, all.end()));
}

TEST_F(ClassBalancedFlows, needs_class_numbers) {
  expect_errors(
      [&](const std::string& component) { flow("ClassBalanced: " + component); },
      {{"row", {"flow.yaml:", "ClassBalanced: component 'row' is float32 []", "a class number, int32 []"}},
       {"anwser", {"ClassBalanced: ", "'anwser'; did you mean 'answer'?"}}});
}

TEST(ClassBalanced, leaves_bad_samples_out_and_says_so) {
  const TempFolder folder;
  const std::string text = "v,c\n1,a\nx,a\n3,b\n4,b\n";
  folder.write_text("a.csv", text);
  const DataFlow flow = folder.flow(
      "[CSV: {file: a.csv, columns: {v: v}, labels: {c: c}}, ClassBalanced: {component: c, samples: 40}]");
  const CapturedLog log;
  flow.prepare();
  EXPECT_THAT(log.text(), testing::HasSubstr("ClassBalanced: 1 sample is never drawn, as it cannot be read"));
  const auto all = first_component(flow);
  EXPECT_EQ(std::count(all.begin(), all.end(), 1), 20);
}

TEST(ClassBalanced, needs_classes_that_are_known_in_advance) {
  EXPECT_TRUE(fails([] { yaml_flow("[RenderedDigits: {size: 20}, ClassBalanced: label]").prepare(); },
                    {"ClassBalanced: ", "'label' is not known in advance"}));
}

const live::Fields kClassBalanced("stage", "ClassBalanced",
                                  {.base = "{component: label, samples: 5}",
                                   .values = {{"component", "image"}, {"samples", "6"}, {"in_a_row", "2"}},
                                   .build = [](const std::string& item) {
                                     return content_of_flow("[{RenderedDigits: {split: test, size: 20}}, " +
                                                            item + "]");
                                   }});

}  // namespace
}  // namespace tpack
