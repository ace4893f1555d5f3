// The cart with the pole against its published equations.
#include "environment/environment.h"
#include "golden/golden.h"

namespace tpack {
namespace {

TEST(GoldenCartPole, moves_as_the_published_equations_say) {
  const golden::Json golden = golden::read("cart_pole.json");
  const auto environment = Registry<Environment>::make("CartPole");
  size_t number = 0;
  for (const auto& episode : golden.at("episodes")) {
    const std::string key = "cart_pole/" + std::to_string(number++);
    const Tensor actions = golden::draw(key + "/actions", golden.at("actions"), DType::kFloat64);
    const auto states = episode.at("states").get<std::vector<std::vector<double>>>();
    std::vector<double> first = states[0];
    first.push_back(0);  // steps
    environment->restore(first);
    Rng rng(0);
    for (size_t step = 1; step < states.size(); ++step) {
      const auto outcome = environment->step(actions.data<int32_t>()[step - 1], rng);
      for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(environment->state()[i], states[step][i], 1e-12);
      const bool is_last = step + 1 == states.size();
      EXPECT_EQ(outcome.end == EpisodeEnd::kOver, is_last) << "step " << step;
    }
    EXPECT_LT(states.size(), static_cast<size_t>(actions.elements())) << "no end to compare";
  }
  EXPECT_EQ(number, 4);
}

}  // namespace
}  // namespace tpack
