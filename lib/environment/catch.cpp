#include <algorithm>

#include "environment/environment.h"

namespace tpack {
namespace {

struct CatchParams {
  int32_t rows = 10;
  int32_t columns = 5;
};

/// The ball falls by one row in each step; the paddle is in the last row. Actions: left, stay, right. Shapes:
/// observation [rows, columns], 1 where the ball and the paddle are, 0 elsewhere. Source: Mnih et al. 2014,
/// Recurrent Models of Visual Attention; rules and sizes are those of bsuite (Osband et al. 2020).
class Catch final : public Environment {
 public:
  using Params = CatchParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "A ball falls from a random column of the first row; at the end, the reward is 1 if the "
               "paddle in the last row is below it, else -1.")
        .example("Catch: {rows: 10, columns: 5}")
        .field("rows", &Params::rows, between(2, 1000), "height of the board; an episode has rows - 1 steps")
        .field("columns", &Params::columns, between(1, 1000), "width of the board");
  }
  explicit Catch(Params p) : p_(p) {}

  EnvironmentSpec spec() const override { return {{DType::kFloat32, {p_.rows, p_.columns}}, 3}; }
  void reset(Rng& rng) override {
    ball_row_ = 0;
    ball_column_ = static_cast<int32_t>(rng.below(static_cast<uint32_t>(p_.columns)));
    paddle_ = p_.columns / 2;
  }
  StepOutcome step(int32_t action, Rng& /*rng*/) override {
    paddle_ = std::clamp(paddle_ + action - 1, 0, p_.columns - 1);
    if (++ball_row_ < p_.rows - 1) return {};
    return {paddle_ == ball_column_ ? 1.0F : -1.0F, EpisodeEnd::kOver};
  }
  void observe(const Tensor& out) const override {
    const auto cells = out.span<float>();
    std::fill(cells.begin(), cells.end(), 0.0F);
    cells[static_cast<size_t>(ball_row_) * static_cast<size_t>(p_.columns) +
          static_cast<size_t>(ball_column_)] = 1;
    cells[static_cast<size_t>(p_.rows - 1) * static_cast<size_t>(p_.columns) + static_cast<size_t>(paddle_)] =
        1;
  }
  std::vector<double> state() const override {
    return {static_cast<double>(ball_row_), static_cast<double>(ball_column_), static_cast<double>(paddle_)};
  }
  void restore(const std::vector<double>& state) override {
    ball_row_ = static_cast<int32_t>(state[0]);
    ball_column_ = static_cast<int32_t>(state[1]);
    paddle_ = static_cast<int32_t>(state[2]);
  }

 private:
  Params p_;
  int32_t ball_row_ = 0;
  int32_t ball_column_ = 0;
  int32_t paddle_ = 0;
};

TPACK_REGISTER(Environment, Catch, "Catch");

}  // namespace
}  // namespace tpack
