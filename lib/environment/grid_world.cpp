#include <algorithm>
#include <array>
#include <string>

#include "core/text.h"
#include "environment/environment.h"

namespace tpack {
namespace {

constexpr char kStart = 'S';
constexpr char kGoal = 'G';
constexpr char kPit = 'P';
constexpr char kWall = '#';
constexpr char kFloor = '.';

struct GridWorldParams {
  std::vector<std::string> map = {"...G", ".#.P", "S..."};
  double slip = 0.2;
  double step_reward = -0.04;
  int64_t limit = 100;
};

/// Walks over a map. Actions: up, right, down, left. A step into a wall or off the map does not move. Shapes:
/// observation [rows, columns], 1 where the agent is, 0 elsewhere. Source: Russell and Norvig, Artificial
/// Intelligence: A Modern Approach, the 4x3 world, which is the default.
class GridWorld final : public Environment {
 public:
  using Params = GridWorldParams;
  static Schema<Params> schema() {
    return Schema<Params>("A map with a goal to find, where steps may slip to the side.")
        .example(R"(GridWorld: {map: ["S.P", "..G"], slip: 0.1, step_reward: -0.01, limit: 50})")
        .field("map", &Params::map,
               "rows of equal length: S is a start (each episode begins at a random one), G a goal (reward "
               "1, ends the episode), P a pit (reward -1, ends the episode), # a wall, . a free cell")
        .field("slip", &Params::slip, between(0, 1),
               "probability that a step goes to the left or right of the chosen direction, half of it to "
               "each side")
        .field("step_reward", &Params::step_reward, "added to the reward of each step")
        .field("limit", &Params::limit, at_least(1), "steps after which an episode is cut off");
  }
  explicit GridWorld(Params p) : p_(std::move(p)) {
    for (size_t row = 0; row < p_.map.size(); ++row) check(p_.map[row], "row " + std::to_string(row));
    const std::string all = join(p_.map, "");
    if (all.find(kStart) == std::string::npos)
      throw ConfigError("environment GridWorld: 'map' has no start; mark one or more with S");
    for (size_t cell = 0; cell < all.size(); ++cell)
      if (all[cell] == kStart) starts_.push_back(static_cast<int64_t>(cell));
    at_ = starts_[0];
  }

  EnvironmentSpec spec() const override { return {{DType::kFloat32, {rows(), columns()}}, 4}; }
  void reset(Rng& rng) override {
    at_ = starts_[rng.below(static_cast<uint32_t>(starts_.size()))];
    steps_ = 0;
  }
  StepOutcome step(int32_t action, Rng& rng) override {
    const double chance = rng.uniform64();
    if (chance < p_.slip) action = (action + (chance < p_.slip / 2 ? 1 : 3)) % 4;
    move(action);
    ++steps_;
    const char cell = cell_at(at_);
    const auto cost = static_cast<float>(p_.step_reward);
    if (cell == kGoal) return {cost + 1, EpisodeEnd::kOver};
    if (cell == kPit) return {cost - 1, EpisodeEnd::kOver};
    return {cost, steps_ >= p_.limit ? EpisodeEnd::kCutOff : EpisodeEnd::kNone};
  }
  void observe(const Tensor& out) const override {
    const auto cells = out.span<float>();
    std::fill(cells.begin(), cells.end(), 0.0F);
    cells[static_cast<size_t>(at_)] = 1;
  }
  std::vector<double> state() const override {
    return {static_cast<double>(at_), static_cast<double>(steps_)};
  }
  void restore(const std::vector<double>& state) override {
    at_ = static_cast<int64_t>(state[0]);
    steps_ = static_cast<int64_t>(state[1]);
  }

 private:
  void check(const std::string& row, const std::string& which) const {
    if (row.empty() || row.size() != p_.map[0].size())
      throw ConfigError("environment GridWorld: " + which + " of 'map' has " + std::to_string(row.size()) +
                        " cells, row 0 has " + std::to_string(p_.map[0].size()) +
                        "; all rows must have the same length, at least 1");
    const std::string known = {kStart, kGoal, kPit, kWall, kFloor};
    const size_t wrong = row.find_first_not_of(known);
    if (wrong != std::string::npos)
      throw ConfigError("environment GridWorld: '" + row.substr(wrong, 1) + "' in " + which +
                        " of 'map'; use S, G, P, # and .");
  }
  int64_t rows() const { return static_cast<int64_t>(p_.map.size()); }
  int64_t columns() const { return static_cast<int64_t>(p_.map[0].size()); }
  char cell_at(int64_t cell) const {
    return p_.map[static_cast<size_t>(cell / columns())][static_cast<size_t>(cell % columns())];
  }
  void move(int32_t direction) {
    static constexpr std::array<std::array<int64_t, 2>, 4> kSteps = {{{-1, 0}, {0, 1}, {1, 0}, {0, -1}}};
    const auto [down, right] = kSteps[static_cast<size_t>(direction)];
    const int64_t row = at_ / columns() + down;
    const int64_t column = at_ % columns() + right;
    if (row < 0 || row >= rows() || column < 0 || column >= columns()) return;
    const int64_t next = row * columns() + column;
    if (cell_at(next) != kWall) at_ = next;
  }

  Params p_;
  std::vector<int64_t> starts_;  // cells, numbered row by row
  int64_t at_ = 0;
  int64_t steps_ = 0;
};

TPACK_REGISTER(Environment, GridWorld, "GridWorld");

}  // namespace
}  // namespace tpack
