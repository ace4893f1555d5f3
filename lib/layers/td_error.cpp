#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/arg_max.h"
#include "ops/one_hot.h"

namespace tpack {
namespace {

struct TdErrorParams {
  double discount = 0.99;
};

/// values[action] - (reward + discount * (1 - is_over) * next_values[best]), where best is the best action by
/// next_values, or by next_choice if there is one (double Q-learning). The gradient flows only to `values`.
/// Shapes: values, next_values, next_choice [N, actions]; action, integers, reward and is_over [N] -> [N].
/// Source: Mnih et al. 2015, Human-level control through deep reinforcement learning; van Hasselt et al.
/// 2016, Deep Reinforcement Learning with Double Q-learning.
class TdError final : public Layer {
 public:
  using Params = TdErrorParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Temporal-difference error: the value of an action, minus the sum of its reward and the "
               "discounted value of the next state: `input: [values, action, reward, is_over, next_values]`. "
               "An optional sixth input, the trained network's own values of the next state, chooses the "
               "next action (double Q-learning).")
        .example("TDError: {discount: 0.9}")
        .field("discount", &Params::discount, between(0, 1),
               "discount factor: weight of a reward that comes one step later");
  }
  explicit TdError(Params p) : p_(p) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    check_input_count(
        b, in, in.size() == 6 ? 6 : 5,
        "values, action, reward, is_over, next values, and for double Q-learning values to choose "
        "the next action by");
    for (const Symbol& values : {in[0], in[4], in.back()}) check_values(b, values, in[0].shape());
    const Symbol next = in.size() == 6 ? value_of(b, in[4], b.emit<ArgMax>({.axis = 1}, {in[5]}).out())
                                       : b.reduce_max(in[4], {1});
    const Symbol goes_on = b.sub(1.0, per_sample(b, in[3], in[0]));
    const Symbol target = b.add(per_sample(b, in[2], in[0]), b.mul(b.mul(next, goes_on), p_.discount));
    return b.sub(value_of(b, in[0], nn::integers(b, in[1], "action")), b.stop_gradient(target));
  }

 private:
  static void check_values(const Builder& b, Symbol x, const Shape& as) {
    nn::check_float_input(b, x);
    if (x.shape().rank() != 2 || !(x.shape() == as))
      throw ShapeError(b.origin(), b.path() +
                                       ": all values must have the same shape [samples, actions], not " +
                                       as.str() + " and " + x.shape().str());
  }
  static Symbol per_sample(Builder& b, Symbol x, Symbol values) {
    const int64_t samples = values.shape()[0];
    if (x.shape().elements() != samples)
      throw ShapeError(b.origin(), b.path() + ": " + x.shape().str() + " is not one number for each of the " +
                                       std::to_string(samples) + " samples");
    return b.reshape(b.to_float(x), {samples});
  }
  /// The element of each row for its action.
  static Symbol value_of(Builder& b, Symbol values, Symbol action) {
    const Symbol number = b.reshape(action, {values.shape()[0]});
    return b.reduce_sum(b.mul(values, one_hot(b, number, values.shape()[1])), {1});
  }

  Params p_;
};

TPACK_REGISTER(Layer, TdError, "TDError");

}  // namespace
}  // namespace tpack
