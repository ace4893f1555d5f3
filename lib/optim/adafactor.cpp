#include <cmath>
#include <utility>

#include "optim/decoupled_decay.h"
#include "optim/moving_mean.h"
#include "optim/optimizers.h"
#include "optim/per_variable.h"

namespace tpack {
namespace {

/// With the number t of this update, k = t^-decay: of the last two axes, r <- (1 - k) r + k mean of each row
/// of g^2, c the same of columns, v = r c / max(mean of r, epsilon); of vectors v <- (1 - k) v + k g^2. u = g
/// / sqrt(max(v, epsilon^2)); p <- p - lr * weight_decay * p - max(least_size, rms(p)) * min(lr, 1 / sqrt(t))
/// * u / max(1, rms(u) / clip), with the root of the mean of squares of each variable. Sources: Shazeer and
/// Stern 2018, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost"; torch.optim.Adafactor of
/// PyTorch 2.5, whose epsilon is used differently from the paper's.
class Adafactor final : public Optimizer {
 public:
  using Params = AdafactorParams;
  static Schema<Params> schema() {
    auto schema =
        optimizer_schema<Params>(
            "Adafactor: the size of the gradients of a matrix is kept by row and by column, so the optimizer "
            "needs little memory; each step is in proportion to the size of its variable. The learning rate "
            "is the largest share of that size; later steps take one over the root of the number of updates.")
            .example("Adafactor: {learning_rate: 0.01}")
            .field("decay", &Params::decay, between(0, 1),
                   "power of the number of updates that divides the share of the new gradient in means of "
                   "squares")
            .field("epsilon", &Params::epsilon, above(0),
                   "least root of a mean of squares that divides a gradient")
            .field("least_size", &Params::least_size, above(0),
                   "least size of a variable (root of the mean of squares) to which a step is in proportion")
            .field(
                "clip", &Params::clip, at_least(1),
                "largest root of the mean of squares of a step, before it is multiplied by the size of its "
                "variable and by the rate");
    return with_decay_fields(std::move(schema), "weight_decay", &Params::weight_decay);
  }
  explicit Adafactor(const Params& p) : Optimizer(p), p_(p), decay_(p.weight_decay, p.exclude) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const FlatLayout& layout = state.layout();
    const Symbol t = b.add(state.updates(), 1.0);
    const Symbol squares = means_of_squares(b, layout, gradient, b.pow(t, -p_.decay));
    const Symbol step = b.mul(gradient, b.rsqrt(b.max(squares, p_.epsilon * p_.epsilon)));
    const Symbol too_large = b.max(b.div(sizes_of(b, layout, step), p_.clip), 1.0);
    const Symbol size = b.div(b.max(sizes_of(b, layout, parameters), p_.least_size), too_large);
    const Symbol rate = b.mul(b.min(learning_rate, b.rsqrt(t)), at_elements(b, layout, size));
    return b.sub(parameters, decay_.added_to(b, layout, parameters, learning_rate, b.mul(step, rate)));
  }

  /// The root of the mean of squares of each variable, [variables].
  static Symbol sizes_of(Builder& b, const FlatLayout& layout, Symbol block) {
    const Symbol factors = constants_of_variables(b, layout, [](const FlatLayout::Entry& variable) {
      return 1 / std::sqrt(static_cast<double>(variable.shape.elements()));
    });
    return b.mul(norms_of_variables(b, layout, block), factors);
  }

  /// v of all variables, [n]; 0 between them.
  Symbol means_of_squares(Builder& b, const FlatLayout& layout, Symbol gradient, Symbol share) const {
    return block_of_values(b, layout, [&](const FlatLayout::Entry& variable) {
      const Symbol squares = b.square(values_of_variable(b, variable, gradient));
      return variable.shape.rank() > 1 ? product_of_means(b, variable.name, squares, share)
                                       : moved_state(b, "squares", variable.name, squares, share);
    });
  }

  /// v of a matrix, or of each matrix of the last two axes.
  Symbol product_of_means(Builder& b, const std::string& name, Symbol squares, Symbol share) const {
    const int column = static_cast<int>(squares.shape().rank()) - 1;
    const auto mean = [&](Symbol x, int axis) { return b.reduce_mean(x, {axis}, Builder::Keep::kYes); };
    const Symbol rows = moved_state(b, "rows", name, mean(squares, column), share);
    const Symbol columns = moved_state(b, "columns", name, mean(squares, column - 1), share);
    return b.mul(b.div(rows, b.max(mean(rows, column - 1), p_.epsilon)), columns);
  }

  /// Moves the mean "@OF/VARIABLE" by a share towards `now`; returns the new mean, of the same shape.
  static Symbol moved_state(Builder& b, const std::string& of, const std::string& variable, Symbol now,
                            Symbol share) {
    const std::string name = FlatBlock{of, ""}.part(variable);
    const Symbol old = b.variable({.name = name, .spec = now.spec(), .scope = VariableScope::kOptimizer});
    const Symbol mean = b.add(b.mul(old, b.sub(1.0, share)), b.mul(now, share));
    b.assign(name, mean);
    return mean;
  }

  Params p_;
  DecoupledDecay decay_;
};

TPACK_REGISTER(Optimizer, Adafactor, "Adafactor", "AdafactorOptimizer");

}  // namespace

std::unique_ptr<Optimizer> adafactor(const AdafactorParams& params) {
  return make_checked<Adafactor>(params);
}

}  // namespace tpack
