#include "optim/update.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

Update training(const std::string& pattern) {
  Update update;
  update.variables = {{pattern, {}}};
  return update;
}

TEST(Update, selects_everything_if_it_names_nothing) { EXPECT_TRUE(Update{}.selects("fc0/W")); }

TEST(Update, selects_what_is_below_a_name_and_what_an_expression_matches_whole) {
  EXPECT_TRUE(training("discriminator").selects("discriminator/fc0/W"));
  EXPECT_FALSE(training("discriminator").selects("discriminator2/fc0/W"));
  EXPECT_FALSE(training("fc0").selects("discriminator/fc0/W"));
  EXPECT_TRUE(training(".*/W").selects("discriminator/fc0/W"));
  EXPECT_FALSE(training("fc.*").selects("discriminator/fc0/W"));
}

TEST(Update, rejects_what_is_not_an_expression) {
  EXPECT_THROW(training("fc(").selects("fc0/W"), ConfigError);
}

TEST(Update, does_not_select_what_is_frozen) {
  Update update;
  update.frozen = {{"body", {}}, {".*/b", {}}};
  EXPECT_FALSE(update.selects("body/fc0/W"));
  EXPECT_FALSE(update.selects("head/b"));
  EXPECT_TRUE(update.selects("head/W"));
  EXPECT_FALSE(update.selects_all());
  update.variables = {{"head", {}}};
  EXPECT_TRUE(update.selects("head/W"));
  EXPECT_FALSE(update.selects("head/b"));
  EXPECT_FALSE(update.selects("tail/W"));
}

std::string steps_of(const UpdateSchedule& turn) {
  std::string steps;
  for (int64_t step = 0; step < 12; ++step) steps += turn.includes(step) ? 'x' : '-';
  return steps;
}

TEST(UpdateSchedule, has_some_steps_of_each_round) {
  EXPECT_EQ(steps_of({}), "xxxxxxxxxxxx");
  EXPECT_EQ(steps_of({.round = 3}), "x--x--x--x--");
  EXPECT_EQ(steps_of({.round = 6, .steps = 5}), "xxxxx-xxxxx-");
  EXPECT_EQ(steps_of({.round = 6, .first = 5}), "-----x-----x");
  EXPECT_EQ(steps_of({.round = 4, .first = 1, .steps = 2}), "-xx--xx--xx-");
}

TEST(UpdateSchedule, says_how_many) {
  EXPECT_EQ(UpdateSchedule{}.str(), "all");
  EXPECT_EQ((UpdateSchedule{.round = 5, .first = 1, .steps = 2}).str(), "2 of 5");
}

TEST(Update, names_its_programs_and_hyper_parameters) {
  EXPECT_EQ(Update{}.program_name("backward"), "backward");
  Update named;
  named.name = "d";
  EXPECT_EQ(named.program_name("update"), "d/update");
  EXPECT_EQ(Update{}.hyper_parameter("learning_rate"), "learning_rate");
  EXPECT_EQ(named.hyper_parameter("learning_rate"), "d/learning_rate");
}

}  // namespace
}  // namespace tpack
