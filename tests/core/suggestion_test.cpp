#include <gtest/gtest.h>

#include "core/text.h"

namespace tpack {
namespace {

TEST(EditDistance, counts_a_swap_of_neighbors_once) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("lr", "rl"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(Nearest, finds_what_was_meant) {
  const std::vector<std::string> names = {"learning_rate", "momentum", "Conv2D", "Conv2DTranspose"};
  EXPECT_EQ(nearest("learing_rate", names), "learning_rate");
  EXPECT_EQ(nearest("learning-rate", names), "learning_rate");
  EXPECT_EQ(nearest("conv2d", names), "Conv2D");
  EXPECT_EQ(nearest("rate", names), "learning_rate");
}

TEST(Nearest, does_not_guess_at_another_word) {
  const std::vector<std::string> names = {"learning_rate", "lr"};
  EXPECT_EQ(nearest("weight_decay", names), std::nullopt);
  EXPECT_EQ(nearest("xy", names), std::nullopt);
  EXPECT_EQ(did_you_mean("weight_decay", names), "");
  EXPECT_EQ(did_you_mean("LR", names), "; did you mean 'lr'?");
}

/// Statistics of a run that validates.
const std::vector<std::string> kStatistics = {
    "accuracy", "cost", "in_top_k", "learning_rate", "validation_accuracy", "validation_cost"};

TEST(Nearest, knows_common_abbreviations_and_other_words_for_the_same) {
  EXPECT_EQ(nearest("val_accuracy", kStatistics), "validation_accuracy");
  EXPECT_EQ(nearest("val_acc", kStatistics), "validation_accuracy");
  EXPECT_EQ(nearest("val_loss", kStatistics), "validation_cost");
  EXPECT_EQ(nearest("loss", kStatistics), "cost");
  EXPECT_EQ(nearest("acc", kStatistics), "accuracy");
  EXPECT_EQ(nearest("lr", kStatistics), "learning_rate");
  EXPECT_EQ(nearest("epochs", std::vector<std::string>{"starting_epoch", "max_epoch", "steps_per_epoch"}),
            "max_epoch");
  EXPECT_EQ(nearest("out_channels", std::vector<std::string>{"filters", "kernel"}), "filters");
  EXPECT_EQ(nearest("Dense", std::vector<std::string>{"Dropout", "FullyConnected"}), "FullyConnected");
  EXPECT_EQ(nearest("BatchNormalization", std::vector<std::string>{"Normalize", "BatchNorm"}), "BatchNorm");
  EXPECT_EQ(nearest("GlobalAveragePool", std::vector<std::string>{"AvgPooling", "GlobalAvgPooling"}),
            "GlobalAvgPooling");
}

TEST(Nearest, takes_a_name_that_what_was_written_begins_or_ends_with) {
  EXPECT_EQ(nearest("kernel_size", std::vector<std::string>{"filters", "kernel", "stride"}), "kernel");
  EXPECT_EQ(nearest("HorizontalFlip", std::vector<std::string>{"RandomCrop", "Flip"}), "Flip");
  EXPECT_EQ(nearest("validation_accuracy", std::vector<std::string>{"accuracy", "cost"}), std::nullopt)
      << "that of training is another figure";
}

TEST(Nearest, prefers_shared_words_over_fewer_slips) {
  EXPECT_EQ(nearest("val_accuracy", std::vector<std::string>{"accuracy", "test_accuracy"}), "test_accuracy");
  EXPECT_EQ(nearest("validation_acuracy", kStatistics), "validation_accuracy");
}

TEST(Nearest, prefers_one_slip_over_shared_words) {
  EXPECT_EQ(nearest("batch_sizes", std::vector<std::string>{"batch_axis", "batch", "batch_size"}),
            "batch_size");
  EXPECT_EQ(nearest("acuracy", kStatistics), "accuracy");
}

TEST(Nearest, does_not_take_one_shared_word_for_the_name) {
  EXPECT_EQ(nearest("BatchData", std::vector<std::string>{"BatchNorm"}), std::nullopt);
  EXPECT_EQ(nearest("batch_size", std::vector<std::string>{"buffer_size"}), std::nullopt);
}

}  // namespace
}  // namespace tpack
