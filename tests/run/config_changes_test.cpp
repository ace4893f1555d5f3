#include "run/config_changes.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/errors.h"
#include "support/positions.h"

namespace tpack {
namespace {

using testing::ElementsAre;

std::vector<std::string> changes(const std::string& before, const std::string& now) {
  const std::string optimizer = "optimizer: {SGD: {learning_rate: 0.1}}\n";
  return config_changes(parse_yaml(optimizer + before, "before.yaml"),
                        parse_yaml(optimizer + now, "now.yaml"), in_train_yaml(3, 1));
}

TEST(ConfigChanges, are_none_if_only_the_length_or_the_name_differs) {
  EXPECT_THAT(changes("max_epoch: 3\nname: a\nvars: {x: 1}\nseed: 1", "max_epoch: 9\nname: b\nseed: 1"),
              ElementsAre());
}

TEST(ConfigChanges, name_each_value_with_its_path) {
  EXPECT_THAT(changes("engine: {threads: 1}\nseed: 1", "engine: {threads: 2}\nseed: 2"),
              ElementsAre("engine.threads was 1, is 2", "seed was 1, is 2"));
  EXPECT_THAT(changes("gates: {accuracy: \"> 0.5\"}", ""),
              ElementsAre("gates was {accuracy: > 0.5}, is not set"));
  EXPECT_THAT(changes("", "steps_per_epoch: 5"), ElementsAre("steps_per_epoch was not set, is 5"));
  EXPECT_THAT(changes("model: {inputs: {x: {shape: [4, 4]}}}", "model: {inputs: {x: {shape: [4, 5]}}}"),
              ElementsAre("model.inputs.x.shape.1 was 4, is 5"));
  EXPECT_THAT(
      changes("data: {train: [Augment: [Resize: 4, Flip]]}", "data: {train: [Augment: [Resize: 5, Flip]]}"),
      ElementsAre("data.train.0.Augment.0.Resize was 4, is 5"));
}

TEST(ConfigChanges, of_lists_of_components_are_not_those_of_the_next_items) {
  EXPECT_THAT(changes("callbacks: [A, B: {x: 1}]", "callbacks: [C, A, B: {x: 1}]"),
              ElementsAre("callbacks now has C"));
  EXPECT_THAT(changes("callbacks: [C, A, B: {x: 1}]", "callbacks: [A, B: {x: 1}]"),
              ElementsAre("callbacks no longer has C"));
  EXPECT_THAT(changes("callbacks: [A, B: {x: 1}]", "callbacks: [B: {x: 2}, A]"),
              ElementsAre("callbacks.B.x was 1, is 2"));
  EXPECT_THAT(changes("callbacks: [A, B, C]", "callbacks: [A, C, B]"),
              ElementsAre("callbacks is in a different order"));
}

TEST(ConfigChanges, updates_in_another_order_are_one_change) {
  EXPECT_THAT(
      config_changes(parse_yaml("updates: {d: {optimizer: Adam}, g: {optimizer: SGD}}", "before.yaml"),
                     parse_yaml("updates: {g: {optimizer: SGD}, d: {optimizer: Adam}}", "now.yaml"), {}),
      ElementsAre("updates were in the order d, g, now they are in the order g, d"));
}

TEST(SplitChanges, are_those_of_the_parts_only) {
  const auto changes_of = [](const std::string& before, const std::string& now) {
    const auto config = [](const std::string& split) {
      return parse_yaml(
          "data: {train: [SplitData: {" + split + "}, BatchData: 2], all: [CSV: {file: a.csv}]}", "c.yaml");
    };
    return split_changes(config(before), config(now));
  };
  EXPECT_THAT(changes_of("source: {CSV: {file: a.csv}}, seed: 1", "source: {CSV: {file: b.csv}}, seed: 1"),
              ElementsAre());
  EXPECT_THAT(changes_of("source: {CSV: {file: a.csv}}, seed: 1", "source: {CSV: {file: a.csv}}, seed: 2"),
              ElementsAre("the split of data.train.seed was 1, is 2"));
}

TEST(ConfigChanges, of_the_optimizer_are_an_error_at_its_place) {
  EXPECT_TRUE(says(error_from([&] {
                     config_changes(parse_yaml("optimizer: Adam", "before.yaml"),
                                    parse_yaml("optimizer: {SGD: {}}", "now.yaml"), in_train_yaml(3, 1));
                   }),
                   {"train.yaml:3:1:", "optimizer Adam", "optimizer SGD", "resume with the same, or start"}));
}

/// Samples that were learned could be validated.
TEST(SplitChanges, are_found_where_one_has_no_split) {
  const ConfigNode without = parse_yaml("data: {train: [Npz: {file: a.npz}]}", "a");
  const ConfigNode with =
      parse_yaml("data: {train: [SplitData: {source: {Npz: {file: a.npz}}, shares: 0.2}]}", "b");
  EXPECT_EQ(split_changes(without, with).size(), 1U);
  EXPECT_EQ(split_changes(with, without).size(), 1U);
  EXPECT_TRUE(split_changes(with, with).empty());
  EXPECT_TRUE(split_changes(without, without).empty());
}

}  // namespace
}  // namespace tpack
