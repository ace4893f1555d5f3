#include "predict/class_counts.h"

#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "graph/builder.h"
#include "predict/bad_input.h"
#include "support/captured_log.h"
#include "support/positions.h"
#include "support/small_model.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

class ClassCountsTest : public testing::Test {
 protected:
  ClassCountsTest() {
    Builder b(graph_, table_, {Phase::kInference, DType::kFloat32});
    build_tower(b, *tower_, batch_specs(*tower_, 1), {});  // which has 3 scores
  }
  /// Labels with that many classes, in a component of the model's name.
  DataFlow with_classes(int count) {
    const std::string name = "set" + std::to_string(count);
    for (int i = 0; i < count; ++i)
      std::filesystem::create_directories(folder_ / (name + "/class" + std::to_string(i)));
    return make_flow(parse_yaml("[ImageFolder: " + (folder_ / name) + "]", "test.yaml"));
  }
  static std::string error_of(const std::function<void()>& act) {
    try {
      act();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  std::unique_ptr<TowerFunction> tower_ = model_of(kSmallModel);
  Graph graph_;
  VariableTable table_;
};

TEST_F(ClassCountsTest, of_data_train_are_not_more_than_the_scores) {
  const auto error = [&](int classes) {
    return error_of([&] { check_classes_of_train(graph_, *tower_, with_classes(classes)); });
  };
  EXPECT_EQ(error(3), "");
  EXPECT_THAT(error(4), testing::HasSubstr("cost/SoftmaxCrossEntropy: data.train has 4 classes (class0, "
                                           "class1, class2, class3), but there are "
                                           "3 scores; set units: 4 in the layer of the logits"));
}

TEST_F(ClassCountsTest, warn_of_scores_that_no_class_of_data_train_has) {
  const CapturedLog log;
  check_classes_of_train(graph_, *tower_, with_classes(2));
  EXPECT_THAT(log.text(),
              testing::HasSubstr("data.train has 2 classes (class0, class1), but there are 3 scores"));
  check_classes_of_train(graph_, *tower_, with_classes(1));
  EXPECT_THAT(log.text(), testing::HasSubstr("data.train has 1 class (class0), but there are 3 scores; with "
                                             "only one class there is nothing to learn; check the labels"));
}

TEST_F(ClassCountsTest, of_other_flows_are_not_more_than_the_scores_either) {
  const auto error = [&](int classes) {
    return error_of(
        [&] { check_classes(graph_, *tower_, with_classes(classes), "validation", in_train_yaml(30, 28)); });
  };
  EXPECT_EQ(error(2), "");
  EXPECT_EQ(error(3), "");
  EXPECT_EQ(
      error(5),
      "train.yaml:30:28: cost/SoftmaxCrossEntropy: flow 'validation' has 5 classes (class0, class1, class2, "
      "class3, class4), but there are 3 scores; remove the classes that data.train does not have");
}

/// Numbers of another integer type, and with axes of size 1, too.
TEST_F(ClassCountsTest, are_not_more_than_an_embedding_or_one_hot_has) {
  for (const auto& [layer, what] : {std::pair("Embedding: {entries: 3, units: 2, name: known}",
                                              "but there are 3 entries; set entries: 4"),
                                    std::pair("OneHot: {classes: 3, name: known}",
                                              "but there are 3 classes of OneHot; set classes: 4")}) {
    for (const char* type : {"int32", "uint8"}) {
      const auto tower = model_of(std::string("inputs:\n  label: {shape: [], dtype: ") + type +
                                  "}\nlayers:\n  - Reshape: {shape: [1], name: column}\n  - " + layer);
      Graph graph;
      VariableTable table;
      Builder b(graph, table, {Phase::kInference, DType::kFloat32});
      build_tower(b, *tower, batch_specs(*tower, 2), {});
      const CapturedLog log;
      const auto error = [&](int classes) {
        return error_of([&] { check_classes_of_train(graph, *tower, with_classes(classes)); });
      };
      EXPECT_EQ(error(2), "");
      EXPECT_EQ(error(3), "");
      EXPECT_THAT(error(4), testing::HasSubstr(what)) << type;
      EXPECT_EQ(log.text(), "") << "more entries than classes are fine";
    }
  }
}

/// A label that is ignored is not a class; the number of classes is checked as without `ignore_label`.
TEST_F(ClassCountsTest, know_of_the_label_that_does_not_count) {
  for (const std::string cost : {"SoftmaxCrossEntropy", "FocalLoss", "DiceLoss"}) {
    for (const std::string type : {"int32", "uint8"}) {
      const auto tower =
          model_of("inputs:\n  x: {shape: [5, 2, 2], layout: CHW}\n  label: {shape: [2, 2], dtype: " + type +
                   "}\nlayers:\n  - Conv2D: {filters: 3, kernel: 1, input: x, name: scores}\ncost:\n  - " +
                   cost + ": {logits: scores, labels: label, ignore_label: 255}\n");
      Graph graph;
      VariableTable table;
      Builder b(graph, table, {Phase::kInference, DType::kFloat32});
      build_tower(b, *tower, batch_specs(*tower, 2), {});
      const auto choices = numbered_choices(graph, *tower);
      ASSERT_FALSE(choices.empty()) << cost;
      EXPECT_EQ(choices[0].ignored, 255);
      const auto error = [&](int classes) {
        return error_of([&] { check_classes_of_train(graph, *tower, with_classes(classes)); });
      };
      EXPECT_EQ(error(3), "");
      EXPECT_THAT(error(4), testing::HasSubstr("set units: 4 in the layer of the logits")) << cost << type;
      BadInputFinder finder(*tower, "train");
      const auto is_bad = [&](double label) {
        std::vector<double> labels = {0, 1, 2, 2};
        labels[2] = label;
        const std::vector<Tensor> batch = {Tensor::zeros({DType::kFloat32, {1, 5, 2, 2}}),
                                           Tensor::of<double>({1, 2, 2}, labels)};
        return finder.find(batch, "").has_value();
      };
      EXPECT_FALSE(is_bad(255)) << cost;
      EXPECT_EQ(is_bad(254), choices[0].makes_nan) << cost;
    }
  }
}

/// Rows of the batch are not rows of a table.
TEST_F(ClassCountsTest, have_nothing_to_do_with_elements_of_the_batch) {
  const auto tower = model_of(
      "inputs:\n  x: {shape: [5]}\n  label: {shape: [], dtype: int32}\nlayers:\n"
      "  - Gather: {axis: 0, input: [x, label]}");
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  build_tower(b, *tower, batch_specs(*tower, 1), {});
  EXPECT_TRUE(numbered_choices(graph, *tower).empty());
}

TEST_F(ClassCountsTest, of_a_yes_or_no_are_two) {
  const auto tower = model_of(
      "inputs: {x: {shape: [5]}, label: {shape: [], dtype: int32}}\nlayers: [FullyConnected: {name: fc, "
      "units: "
      "1}]\ncost: [SigmoidCrossEntropy: {logits: fc, labels: label}]\n");
  Graph graph;
  Builder b(graph, table_, {Phase::kInference, DType::kFloat32});
  const TowerResult built = build_tower(b, *tower, batch_specs(*tower, 1), {});
  const auto error = [&](int classes) {
    return error_of([&] { check_binary_classes(built.targets, *tower, with_classes(classes)); });
  };
  EXPECT_EQ(error(2), "");
  EXPECT_THAT(error(4),
              testing::HasSubstr("data.train has 4 classes (class0, class1, class2, class3), but one "
                                 "output can only distinguish two"));
}

TEST_F(ClassCountsTest, say_nothing_of_labels_without_names) {
  EXPECT_NO_THROW(check_classes_of_train(graph_, *tower_, small_flow(10, "")));
}

}  // namespace
}  // namespace tpack
