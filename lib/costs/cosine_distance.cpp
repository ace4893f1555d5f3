#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

struct CosineDistanceParams : RegressionFields {};

/// 1 - x.t / (|x| |t|) along the last axis; |x||t| is at least 1e-8. Shapes: predictions x [N, ..., D],
/// targets of the same shape -> losses [N, ...]. Source: PyTorch's CosineEmbeddingLoss for similar pairs;
/// Keras' CosineSimilarity, plus 1.
class CosineDistance final : public Loss {
 public:
  using Params = CosineDistanceParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Regression of directions, ignoring lengths: 1 minus the cosine of the angle between "
                       "predictions and targets, from 0 to 2.")
            .example("CosineDistance: {predictions: embedding, targets: true_embedding}"));
  }
  explicit CosineDistance(Params p) : p_(std::move(p)) {
    if (p_.targets.output.empty())
      throw ConfigError(
          p_.targets.output.position,
          "'targets' of CosineDistance is a number; it must be an output or input with vectors");
  }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    const auto [predictions, targets] = compared(model, p_);
    const auto rank = static_cast<int>(predictions.shape().rank());
    if (rank < 2)
      throw ShapeError(p_.predictions.position, "CosineDistance compares vectors [N, ..., D]; '" +
                                                    p_.predictions.name + "' is " + predictions.spec().str());
    const auto dot = [&](const Symbol& x, const Symbol& y) { return b.reduce_sum(b.mul(x, y), {rank - 1}); };
    const Symbol squares = b.mul(dot(predictions, predictions), dot(targets.symbol, targets.symbol));
    constexpr double kLeast = 1e-16;
    return b.sub(1.0, b.div(dot(predictions, targets.symbol), b.sqrt(b.max(squares, kLeast))));
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    return number_target(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, CosineDistance, "CosineDistance");

}  // namespace
}  // namespace tpack
