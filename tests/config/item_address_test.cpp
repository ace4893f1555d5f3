#include "config/item_address.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/text.h"
#include "small_structure.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing_config::small_structure;

ConfigNode config() {
  return parse_yaml(
      "model:\n"
      "  layers:\n"
      "    - Conv2D: {name: conv0, filters: 1}\n"
      "    - ReLU\n"
      "    - Conv2D: {name: conv1, filters: 2}\n"
      "    - Softmax: fc1\n"
      "data:\n"
      "  train: {flow: [Mnist: {split: train}, BatchData: {batch_size: 8}], workers: 2}\n"
      "values: [[10, 0.1], [20, 0.2]]\n",
      "a.yaml");
}

std::string at(const std::string& path) {
  const auto found = find_path({config(), {}, small_structure()}, split(path, '.'));
  return found ? join(found->place, ".") + " = " + to_json(found->node) : "nothing";
}

TEST(FindPath, follows_keys_names_components_and_numbers_to_one_place) {
  EXPECT_EQ(at("model.layers.conv1.filters"), "model.layers.2.Conv2D.filters = 2");
  EXPECT_EQ(at("model.layers.2.filters"), "model.layers.2.Conv2D.filters = 2");
  EXPECT_EQ(at("model.layers.2.Conv2D.filters"), "model.layers.2.Conv2D.filters = 2");
  EXPECT_EQ(at("model.layers.Softmax"), "model.layers.3.Softmax = \"fc1\"");
  EXPECT_EQ(at("model.layers.1"), "model.layers.1 = \"ReLU\"");
  EXPECT_EQ(at("values.1.0"), "values.1.0 = 20");
}

TEST(FindPath, passes_through_the_options_of_a_flow) {
  EXPECT_EQ(at("data.train.BatchData.batch_size"), "data.train.flow.1.BatchData.batch_size = 8");
  EXPECT_EQ(at("data.train.workers"), "data.train.workers = 2");
}

TEST(FindPath, leads_nowhere_if_a_word_is_unknown_or_ambiguous) {
  EXPECT_EQ(at("model.layers.conv7.filters"), "nothing");
  EXPECT_EQ(at("model.layers.Conv2D.filters"), "nothing");
  EXPECT_EQ(at("model.layers.4"), "nothing");
  EXPECT_EQ(at("model.nothing.x"), "nothing");
  EXPECT_EQ(at("values.0.0.0"), "nothing");
}

TEST(ItemIndex, prefers_a_name_to_a_component) {
  const ConfigNode list = parse_yaml("[Add: {name: x}, x: {units: 3}]", "a");
  EXPECT_EQ(item_index(list, "x", "list", {}), 0U);
  EXPECT_EQ(item_index(list, "Add", "list", {}), 0U);
}

TEST(ItemIndex, finds_items_without_a_name_as_reports_call_them) {
  const ConfigNode list =
      parse_yaml("[Conv2D: {filters: 1}, Conv2D: {name: a}, ReLU, Conv2D: {filters: 2}]", "a");
  EXPECT_EQ(item_index(list, "conv2d_0", "list", {}), 0U);
  EXPECT_EQ(item_index(list, "conv2d_1", "list", {}), 3U);
  EXPECT_EQ(item_index(list, "relu_0", "list", {}), 2U);
  EXPECT_THROW(item_index(list, "conv2d_2", "list", {}), ConfigError);
}

TEST(ItemIndex, says_what_the_list_has) {
  const ConfigNode list = *config().find("model")->find("layers");
  const auto complaint = [&](const std::string& word) -> std::string {
    return error_from([&] { item_index(list, word, "model.layers", {}); });
  };
  EXPECT_TRUE(says(complaint("MaxPooling"),
                   {"'MaxPooling' in 'model.layers'", "to add an item, write 'layers: !append [ITEM]'"}));
  EXPECT_TRUE(says(complaint("Conv2D"), {"'Conv2D' is ambiguous", "use its number or name"}));
}

TEST(WordsAt, lists_keys_or_names) {
  const auto train = find_path({config(), {}, small_structure()}, {"data", "train"});
  ASSERT_TRUE(train.has_value());
  EXPECT_EQ(words_at(train->node, train->type),
            (std::vector<std::string>{"flow", "workers", "Mnist", "BatchData"}));
  EXPECT_EQ(words_at(ConfigNode(3), {}), std::vector<std::string>{});
}

}  // namespace
}  // namespace tpack
