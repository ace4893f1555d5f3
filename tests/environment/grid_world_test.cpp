#include <array>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "environment/environment.h"

namespace tpack {
namespace {

/// The utility of the start under the best policy, as the book has it (figure 17.3 of the third edition).
TEST(GridWorld, has_the_published_utility_by_default) {
  constexpr int32_t kNorth = 0;
  constexpr int32_t kEast = 1;
  constexpr int32_t kWest = 3;
  // By cell; walls and ends have none.
  const std::array<int32_t, 12> best = {kEast,  kEast, kEast,  -1,    kNorth, -1,
                                        kNorth, -1,    kNorth, kWest, kWest,  kWest};
  const auto world = Registry<Environment>::make("GridWorld");
  double sum = 0;
  constexpr uint64_t kEpisodes = 20000;
  for (uint64_t i = 0; i < kEpisodes; ++i) {
    Rng rng(i);
    world->reset(rng);
    EpisodeEnd end = EpisodeEnd::kNone;
    while (end == EpisodeEnd::kNone) {
      const auto [reward, next] = world->step(best[static_cast<size_t>(world->state()[0])], rng);
      sum += static_cast<double>(reward);
      end = next;
    }
  }
  EXPECT_NEAR(sum / kEpisodes, 0.705, 0.01);
}

TEST(GridWorld, stops_at_walls_and_at_the_edge) {
  const auto world =
      Registry<Environment>::make_item(parse_yaml("GridWorld: {map: ['#S.'], slip: 0}", "a.yaml"));
  Rng rng(1);
  world->reset(rng);
  for (const auto& [action, cell] : {std::pair(3, 1), {0, 1}, {1, 2}, {1, 2}, {2, 2}, {3, 1}}) {
    EXPECT_EQ(world->step(action, rng).end, EpisodeEnd::kNone);
    EXPECT_EQ(world->state()[0], cell);
  }
}

TEST(GridWorld, rejects_maps_that_are_none) {
  const auto error_of = [](const std::string& map) -> std::string {
    try {
      Registry<Environment>::make_item(parse_yaml("GridWorld: {map: " + map + "}", "a.yaml"));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("['S.', 'G']"), testing::HasSubstr("row 1 of 'map' has 1 cells, row 0 has 2"));
  EXPECT_THAT(error_of("['S?']"), testing::HasSubstr("'?' in row 0 of 'map'"));
  EXPECT_THAT(error_of("['.G']"), testing::HasSubstr("no start"));
  EXPECT_THAT(error_of("[]"), testing::HasSubstr("no start"));
}

}  // namespace
}  // namespace tpack
