#include "core/other_words.h"

#include <set>

#include <gtest/gtest.h>

#include "core/text.h"

namespace tpack {
namespace {

TEST(AdviceOn, depends_on_the_place_alone) {
  EXPECT_EQ(advice_on("optimizer SGD", "momentum"),
            "; use the optimizer Momentum, which has `momentum` and `nesterov`");
  EXPECT_EQ(advice_on("optimizer SGD", "lr"), "; did you mean 'learning_rate'?") << "of any optimizer";
  EXPECT_EQ(advice_on("optimizer RMSProp", "alpha"), "; did you mean 'decay'?") << "its own row comes first";
  EXPECT_EQ(advice_on("optimizer", "lr"), "") << "is no name of an optimizer";
  EXPECT_EQ(advice_on("optimizers SGD", "lr"), "");
  EXPECT_EQ(advice_on("layer Conv2D", "no_such_word"), "");
}

TEST(AdviceOn, does_not_see_letter_case_and_separators) {
  for (const char* word : {"HingeLoss", "hinge_loss", "hingeloss", "Hinge-Loss"})
    EXPECT_TRUE(advice_on("cost", word).starts_with("; use Hinge: ")) << word;
}

TEST(OtherWords, name_each_word_of_a_place_once) {
  std::set<std::string> seen;
  for (const OtherWords& row : other_words()) {
    for (const std::string& place : split(row.places, '|')) {
      for (const std::string& word : split(row.words, ' ')) {
        EXPECT_FALSE(word.empty()) << row.words;
        EXPECT_TRUE(seen.insert(place + " " + snake_case(word)).second) << place << ": " << word;
        EXPECT_NE(advice_on(place, word).find(row.advice), std::string::npos) << place << ": " << word;
      }
    }
    EXPECT_FALSE(row.advice.ends_with('.')) << row.advice;
  }
}

}  // namespace
}  // namespace tpack
