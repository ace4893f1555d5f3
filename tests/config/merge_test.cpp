#include "config/merge.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "core/registry.h"
#include "small_structure.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing_config::small_structure;

using testing_config::Piece;

/// A component with another component as a parameter.
class Outer final : public Piece {
 public:
  struct Params {
    Part<Piece> inner;
    int size = 1;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Holds another.")
        .field("inner", &Params::inner, "it")
        .field("size", &Params::size, "x");
  }
  explicit Outer(Params) {}
};
TPACK_REGISTER(Piece, Outer, "Outer");

std::string merged(const std::string& base, const std::string& over) {
  Diagnostics errors;
  const ConfigNode result =
      merge(parse_yaml(base, "base.yaml"), parse_yaml(over, "over.yaml"), small_structure(), errors);
  const std::string error = error_from([&] { errors.throw_if_any(); });
  return error == "no error" ? to_json(result) : error;
}

TEST(Merge, goes_deep_into_maps_and_replaces_lists) {
  EXPECT_EQ(merged("a: {b: 1, c: {d: 2}}\nl: [1, 2]", "a: {c: {d: 3, e: 4}}\nl: [5]"),
            R"({"a": {"b": 1, "c": {"d": 3, "e": 4}}, "l": [5]})");
  EXPECT_EQ(merged("a: {b: 1}", "a: 2"), R"({"a": 2})");
  EXPECT_EQ(merged("a: 2", "a: {b: 1}"), R"({"a": {"b": 1}})");
}

TEST(Merge, appends_to_the_list_that_is_there) {
  EXPECT_EQ(merged("l: [1]", "l: !append [2, 3]"), R"({"l": [1, 2, 3]})");
  EXPECT_EQ(merged("k: 1", "l: !append [2]"), R"({"k": 1, "l": [2]})");
  EXPECT_TRUE(says(merged("l: 3", "l: !append [2]"), {"over.yaml:1:12:", "'!append' needs a list in 'l'"}));
}

TEST(Merge, deletes_keys_and_items) {
  EXPECT_EQ(merged("a: {b: 1, c: 2}", "a: {b: !delete }"), R"({"a": {"c": 2}})");
  EXPECT_EQ(merged("l: [A, B: {x: 1}, C]", "l: {B: !delete , C: !delete }"), R"({"l": ["A"]})");
  EXPECT_EQ(merged("a: 1", "b: {c: !delete }"), "over.yaml:1:5: nothing to delete: 'b' has no 'c'");
  EXPECT_EQ(merged("a: 1", "a: [!delete ]"), "over.yaml:1:5: nothing to delete in 'a'");
}

TEST(Merge, changes_the_items_that_a_map_names) {
  const std::string base = "layers: [Conv2D: {name: c0, filters: 1}, ReLU, Conv2D: {name: c1, filters: 2}]";
  EXPECT_EQ(merged(base, "layers: {c1: {filters: 9, bias: false}, ReLU: {name: r}}"),
            R"({"layers": [{"Conv2D": {"name": "c0", "filters": 1}}, {"ReLU": {"name": "r"}}, )"
            R"({"Conv2D": {"name": "c1", "filters": 9, "bias": false}}]})");
  EXPECT_EQ(merged("layers: [A: {x: 1}, B]", "layers: {0: {x: 2}, 1: Tanh}"),
            R"({"layers": [{"A": {"x": 2}}, "Tanh"]})");
  EXPECT_EQ(merged("layers: [A: {x: 1}]", "layers: {0: {A: {x: 2}}}"), R"({"layers": [{"A": {"x": 2}}]})");
  EXPECT_EQ(merged("values: [1, 2]", "values: {1: 5}"), R"({"values": [1, 5]})");
  EXPECT_EQ(merged("layers: [Softmax: fc1]", "layers: {Softmax: fc2}"),
            R"({"layers": [{"Softmax": "fc2"}]})");
}

TEST(Merge, reports_all_items_that_are_not_there) {
  EXPECT_TRUE(
      says(merged("layers: [A, B]", "layers: {C: {}, D: {}}"),
           {"over.yaml:1:10:", "no item 'C' in 'layers'", "to add an item, write 'layers: !append [ITEM]'",
            "over.yaml:1:17:", "no item 'D' in 'layers'"}));
}

TEST(Merge, replaces_an_item_named_by_its_number) {
  const std::string base = "data: {train: [Mnist: {split: train}, {BatchData: {batch_size: 4}}]}";
  EXPECT_EQ(merged(base, "data: {train: {0: {CSV: {path: x}}}}"),
            R"({"data": {"train": [{"CSV": {"path": "x"}}, {"BatchData": {"batch_size": 4}}]}})");
  EXPECT_EQ(merged(base, "data: {train: {0: CSV}}"),
            R"({"data": {"train": ["CSV", {"BatchData": {"batch_size": 4}}]}})");
  EXPECT_EQ(merged(base, "data: {train: {1: {BatchData: {batch_size: 5}}, 0: {split: test}}}"),
            R"({"data": {"train": [{"Mnist": {"split": "test"}}, {"BatchData": {"batch_size": 5}}]}})");
  EXPECT_EQ(merged("data: {train: {flow: [A], workers: 2}}", "data: {train: {0: {B: {x: 3}}}}"),
            R"({"data": {"train": {"flow": [{"B": {"x": 3}}], "workers": 2}}})");
  EXPECT_EQ(merged("l: [A: {B: 1}]", "l: {0: {B: 2}}"), R"({"l": [{"A": {"B": 2}}]})") << "a parameter";
}

TEST(Merge, says_which_items_there_are) {
  EXPECT_TRUE(says(merged("callbacks: [A, B: {x: 1}]", "callbacks: {2: C}"),
                   {"over.yaml:1:13:", "no item '2' in 'callbacks'", "to add an item, write"}));
  EXPECT_EQ(merged("data: {train: {flow: [A], workers: 2}}", "data: {train: {1: C}}"),
            "over.yaml:1:16: no item '1' in 'data.train.flow'; the items are 0: A; to add an "
            "item, write 'flow: !append [ITEM]'");
}

TEST(Merge, replaces_another_component_in_a_slot) {
  EXPECT_EQ(
      merged("optimizer: {Adam: {learning_rate: 1, beta1: 2}}", "optimizer: {Adam: {learning_rate: 3}}"),
      R"({"optimizer": {"Adam": {"learning_rate": 3, "beta1": 2}}})");
  EXPECT_EQ(merged("optimizer: {Adam: {learning_rate: 1}}", "optimizer: {SGD: {learning_rate: 3}}"),
            R"({"optimizer": {"SGD": {"learning_rate": 3}}})");
  EXPECT_EQ(merged("trainer: {Simple: {}}", "trainer: Horovod"), R"({"trainer": "Horovod"})");
  EXPECT_EQ(merged("trainer: Simple", "trainer: {Simple: {x: 1}}"), R"({"trainer": {"Simple": {"x": 1}}})");
  EXPECT_EQ(merged("trainer: {Simple: {x: 1}}", "trainer: Simple"), R"({"trainer": {"Simple": {"x": 1}}})");
}

TEST(Merge, does_not_treat_other_maps_as_slots) {
  EXPECT_EQ(merged("vars: {trainer: {A: 1}}", "vars: {trainer: {B: 2}}"),
            R"({"vars": {"trainer": {"A": 1, "B": 2}}})");
}

TEST(Merge, joins_the_short_and_the_long_form_of_a_flow) {
  EXPECT_EQ(merged("data: {train: [A, B: {x: 1}]}", "data: {train: {workers: 2, B: {x: 3}}}"),
            R"({"data": {"train": {"flow": ["A", {"B": {"x": 3}}], "workers": 2}}})");
  EXPECT_EQ(merged("data: {train: {flow: [B: {x: 1}], workers: 2}}", "data: {train: {B: {x: 3}}}"),
            R"({"data": {"train": {"flow": [{"B": {"x": 3}}], "workers": 2}}})");
  EXPECT_EQ(merged("data: {train: {flow: [A], workers: 2}}", "data: {train: [C]}"),
            R"({"data": {"train": {"flow": ["C"], "workers": 2}}})")
      << "a list over a flow with options changes its list alone";
}

TEST(Merge, knows_a_component_wherever_one_may_be_written) {
  EXPECT_EQ(
      merged("updates: {d: {cost: a, optimizer: {Adam: {rate: 1}}}}", "updates: {d: {optimizer: {SGD: {}}}}"),
      R"({"updates": {"d": {"cost": "a", "optimizer": {"SGD": {}}}}})");
  EXPECT_EQ(merged("piece: {Outer: {inner: {A: {x: 1}}, size: 2}}", "piece: {Outer: {inner: {B: {y: 1}}}}"),
            R"({"piece": {"Outer": {"inner": {"B": {"y": 1}}, "size": 2}}})");
  EXPECT_EQ(merged("pieces: [Outer: {inner: {A: {x: 1}}}]", "pieces: {Outer: {inner: {A: {y: 2}}}}"),
            R"({"pieces": [{"Outer": {"inner": {"A": {"x": 1, "y": 2}}}}]})");
  EXPECT_EQ(merged("pieces: [Outer: {inner: {A: {x: 1}}}]", "pieces: {0: {inner: B}}"),
            R"({"pieces": [{"Outer": {"inner": "B"}}]})");
  EXPECT_EQ(merged("pieces: [Unknown: {inner: {A: {x: 1}}}]", "pieces: {0: {inner: {B: {y: 1}}}}"),
            R"({"pieces": [{"Unknown": {"inner": {"A": {"x": 1}, "B": {"y": 1}}}}]})")
      << "of a component that is not registered nothing is known";
}

TEST(Merge, joins_the_short_and_the_long_form_of_a_network) {
  EXPECT_EQ(merged("model: {networks: {g: [Dense: {units: 1}]}}", "model: {networks: {g: {inputs: [a]}}}"),
            R"({"model": {"networks": {"g": {"layers": [{"Dense": {"units": 1}}], "inputs": ["a"]}}}})");
  EXPECT_EQ(merged("model: {networks: {g: {inputs: [a], layers: [Dense: {units: 1}]}}}",
                   "model: {networks: {g: {Dense: {units: 2}}}}"),
            R"({"model": {"networks": {"g": {"inputs": ["a"], "layers": [{"Dense": {"units": 2}}]}}}})");
}

TEST(Merge, joins_settings_and_the_name_of_a_flow) {
  EXPECT_EQ(merged("data: {validation: train}", "data: {validation: {workers: 2}}"),
            R"({"data": {"validation": {"flow": "train", "workers": 2}}})");
  EXPECT_EQ(merged("data: {train: {flow: [A], workers: 2}}", "data: {train: !append [B]}"),
            R"({"data": {"train": {"flow": ["A", "B"], "workers": 2}}})");
}

TEST(Merge, keeps_the_place_of_what_won) {
  Diagnostics errors;
  const ConfigNode result =
      merge(parse_yaml("a: {b: 1, c: 2}", "base.yaml"), parse_yaml("a:\n  b: 5\n", "over.yaml"), {}, errors);
  EXPECT_EQ(result.find("a")->find("b")->position().str(), "over.yaml:2:6");
  EXPECT_EQ(result.find("a")->find("c")->position().str(), "base.yaml:1:14");
  EXPECT_EQ(result.find("a")->entries()[0].key_position.str(), "over.yaml:2:3");
}

}  // namespace
}  // namespace tpack
