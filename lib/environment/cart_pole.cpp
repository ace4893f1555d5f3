#include <cmath>
#include <numbers>

#include "environment/environment.h"

namespace tpack {
namespace {

// Units: m, kg, s, N.
constexpr double kGravity = 9.8;
constexpr double kCartMass = 1.0;
constexpr double kPoleMass = 0.1;
constexpr double kHalfLength = 0.5;  // of the pole
constexpr double kForce = 10.0;
constexpr double kTimeStep = 0.02;
constexpr double kFarthest = 2.4;
constexpr double kSteepest = 12 * std::numbers::pi / 180;
constexpr double kStartRange = 0.05;  // the largest initial value of each variable

struct CartPoleParams {
  int64_t limit = 200;
};

/// A cart is pushed left or right so that the pole on it does not fall. The reward is 1 for each step; the
/// episode is over when the pole leans by more than 12 degrees or the cart is 2.4 m away, and is cut off at
/// the limit. Actions: left, right. Shapes: observation [4], the cart's position and speed, the pole's angle
/// and angular speed. Source: Barto, Sutton and Anderson 1983, Neuronlike Adaptive Elements That Can Solve
/// Difficult Learning Control Problems; constants, Euler's method and limit are those of Gym's CartPole-v0.
class CartPole final : public Environment {
 public:
  using Params = CartPoleParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "A pole on a cart that is pushed left or right to keep the pole upright; each step has the "
               "reward 1.")
        .example("CartPole: {limit: 200}")
        .field("limit", &Params::limit, at_least(1), "steps after which an episode is cut off");
  }
  explicit CartPole(Params p) : p_(p) {}

  EnvironmentSpec spec() const override { return {{DType::kFloat32, {4}}, 2}; }
  void reset(Rng& rng) override {
    for (double* value : {&x_, &speed_, &angle_, &turning_}) *value = kStartRange * (2 * rng.uniform64() - 1);
    steps_ = 0;
  }
  StepOutcome step(int32_t action, Rng& /*rng*/) override {
    const double force = action == 1 ? kForce : -kForce;
    const double mass = kCartMass + kPoleMass;
    const double moment = kPoleMass * kHalfLength;
    const double sine = std::sin(angle_);
    const double cosine = std::cos(angle_);
    const double push = (force + moment * turning_ * turning_ * sine) / mass;
    const double turn =
        (kGravity * sine - cosine * push) / (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / mass));
    const double pull = push - moment * turn * cosine / mass;
    x_ += kTimeStep * speed_;
    speed_ += kTimeStep * pull;
    angle_ += kTimeStep * turning_;
    turning_ += kTimeStep * turn;
    ++steps_;
    const bool has_fallen = std::abs(x_) > kFarthest || std::abs(angle_) > kSteepest;
    const EpisodeEnd otherwise = steps_ >= p_.limit ? EpisodeEnd::kCutOff : EpisodeEnd::kNone;
    return {1, has_fallen ? EpisodeEnd::kOver : otherwise};
  }
  void observe(const Tensor& out) const override {
    const auto values = out.span<float>();
    size_t i = 0;
    for (const double value : {x_, speed_, angle_, turning_}) values[i++] = static_cast<float>(value);
  }
  std::vector<double> state() const override {
    return {x_, speed_, angle_, turning_, static_cast<double>(steps_)};
  }
  void restore(const std::vector<double>& state) override {
    x_ = state[0];
    speed_ = state[1];
    angle_ = state[2];
    turning_ = state[3];
    steps_ = static_cast<int64_t>(state[4]);
  }

 private:
  Params p_;
  double x_ = 0;
  double speed_ = 0;
  double angle_ = 0;    // rad, 0: upright
  double turning_ = 0;  // rad/s
  int64_t steps_ = 0;
};

TPACK_REGISTER(Environment, CartPole, "CartPole");

}  // namespace
}  // namespace tpack
