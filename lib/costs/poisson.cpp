#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

struct PoissonParams : RegressionFields {};

/// exp(x) - target * x: the negative log likelihood of the target under a Poisson distribution with mean
/// exp(x), without terms that do not depend on x. Shapes: predictions x [N, ...], targets of the same shape
/// -> losses [N, ...]. Source: Nelder and Wedderburn 1972; PyTorch's PoissonNLLLoss.
class Poisson final : public Loss {
 public:
  using Params = PoissonParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>(
            "Regression of counts: negative log likelihood of the targets under Poisson distributions. The "
            "predictions are the logarithms of the means; to get counts, apply Elementwise: exp(x).")
            .example("Poisson: {predictions: log_count, targets: count}"));
  }
  explicit Poisson(Params p) : p_(std::move(p)) {
    if (p_.targets.output.empty() && p_.targets.number < 0)
      throw ConfigError(p_.targets.output.position, "'targets' of Poisson is " + shortest(p_.targets.number) +
                                                        "; counts must be at least 0");
  }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    const auto [predictions, targets] = compared(model, p_);
    return b.sub(b.exp(predictions), b.mul(predictions, targets));
  }
  std::optional<Judgement> judgement(const ModelView& model) const override {
    return number_judgement(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, Poisson, "Poisson");

}  // namespace
}  // namespace tpack
