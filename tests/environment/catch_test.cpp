#include <set>

#include <gtest/gtest.h>

#include "environment/environment.h"

namespace tpack {
namespace {

constexpr int32_t kLeft = 0;
constexpr int32_t kStay = 1;
constexpr int32_t kRight = 2;

/// The reward of an episode in which the paddle goes to a column of the ball's, or away from it.
double play(Environment& game, Rng rng, bool follows) {
  game.reset(rng);
  while (true) {
    const std::vector<double> state = game.state();  // row and column of the ball, paddle
    const int32_t towards = state[1] < state[2] ? kLeft : state[1] > state[2] ? kRight : kStay;
    const int32_t away = state[1] < state[2] ? kRight : kLeft;
    const StepOutcome outcome = game.step(follows ? towards : away, rng);
    if (outcome.end == EpisodeEnd::kOver) return static_cast<double>(outcome.reward);
    EXPECT_EQ(outcome.reward, 0);
  }
}

TEST(Catch, rewards_who_is_below_the_ball_in_the_end) {
  const auto game = Registry<Environment>::make("Catch");
  for (uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(play(*game, Rng(i), true), 1);
    EXPECT_EQ(play(*game, Rng(i), false), -1);
  }
}

TEST(Catch, shows_the_ball_and_the_paddle) {
  const auto game = Registry<Environment>::make("Catch", {{"rows", 4}, {"columns", 3}});
  game->restore({0, 2, 1});
  Rng rng(1);
  game->step(kLeft, rng);
  Tensor seen(game->spec().observation);
  game->observe(seen);
  const std::vector<float> expected = {0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
  EXPECT_TRUE(bit_equal(seen, Tensor::of({4, 3}, expected)));
}

TEST(Catch, has_its_ball_in_any_column) {
  const auto game = Registry<Environment>::make("Catch");
  std::set<double> columns;
  for (uint64_t i = 0; i < 50; ++i) {
    Rng rng(i);
    game->reset(rng);
    columns.insert(game->state()[1]);
  }
  EXPECT_EQ(columns, (std::set<double>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace tpack
