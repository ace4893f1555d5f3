#include <algorithm>

#include "core/error.h"
#include "model/network_builder.h"
#include "ops/pad.h"

namespace tpack {
namespace {

struct ScaleLikeParams {
  Ref<LayerOutput> data;
  bool log = false;
};

/// y = x * deviation + mean, with the deviation and mean of an input of the model in the training data; or
/// exp(x * deviation + mean) - 1, with those of log(1 + data). Scales outputs of about -1 to 1 to prices, for
/// example. Both are a variable [2, columns], which is filled when training begins and stored with the
/// weights. Shapes: x [N, columns], or [N] for one -> y same, in the float type. Source: Keras,
/// Normalization(invert=True); scikit-learn, TransformedTargetRegressor with log1p.
class ScaleLike final : public Layer {
 public:
  using Params = ScaleLikeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "y = x * deviation + mean, with the deviation and mean of an input of the model (such as the "
               "targets) in data.train. Scales the output of the last layer to targets that are far from 1.")
        .example("ScaleLike: price")
        .field("data", &Params::data,
               "the input: one number per sample, or one per column of x; its mean and deviation come from "
               "all samples of data.train, or from 10,000 of them if the samples are images")
        .required()
        .shorthand()
        .field("log", &Params::log,
               "true: x is the logarithm of 1 + y, for prices, amounts and counts with a few very large "
               "values: y = exp(x * deviation + mean) - 1, with the mean and deviation of log(1 + data)");
  }
  explicit ScaleLike(Params p) : p_(std::move(p)) {}

  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    Builder& b = network.builder();
    if (in.size() != 1)
      throw ShapeError(b.origin(), b.path() + ": takes one input, not " + std::to_string(in.size()));
    if (!network.is_input(p_.data.name))
      throw ConfigError(
          p_.data.position,
          "'data' of ScaleLike is '" + p_.data.name +
              "', which is not an input of the model; only inputs have a mean and deviation in data.train");
    return build(b, in[0]);
  }
  Symbol build(Builder& b, Symbol x) const override {
    const Symbol y = b.to_float(x);
    if (y.shape().rank() > 2) throw ShapeError("ScaleLike takes x [N, columns], not " + y.shape().str());
    const int64_t columns = y.shape().rank() < 2 ? 1 : y.shape()[1];
    const Symbol of_data = b.variable({.name = b.variable_name("of_data"),
                                       .spec = {b.float_type(), Shape{2, columns}},
                                       .initialize = leave_as_it_is,
                                       .of_numbers = NumbersOfInput{p_.data.name, p_.data.position, p_.log}});
    const auto row = [&](int64_t i) { return b.reshape(slice(b, of_data, {i, 0}, {1, columns}), {columns}); };
    const Symbol scaled = b.add(b.mul(y, row(1)), row(0));
    return p_.log ? b.expm1(scaled) : scaled;
  }

 private:
  /// Mean 0 and deviation 1.
  static void leave_as_it_is(const Tensor& value, Rng& /*rng*/) {
    visit(value.dtype(), [&](auto zero) {
      auto* values = value.data<decltype(zero)>();
      const int64_t columns = value.elements() / 2;
      std::fill_n(values, columns, decltype(zero){0});
      std::fill_n(values + columns, columns, decltype(zero){1});
    });
  }

  Params p_;
};

TPACK_REGISTER(Layer, ScaleLike, "ScaleLike");

}  // namespace
}  // namespace tpack
