#include "metrics/class_ratio.h"

namespace tpack {
namespace {

struct FBetaParams : ClassRatioFields {
  FBetaParams() { average = ClassAverage::kMacro; }
  double beta = 1;
};

/// (1 + beta^2) right / (predicted + beta^2 actual) of each class. Among equal scores, the first class is
/// predicted; if a score is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N); for
/// binary labels, logits [N, ...], labels of the same shape (or a number for all) -> ([3, 1], N). Source:
/// scikit-learn's fbeta_score with zero_division=0.
class FBeta final : public Metric {
 public:
  using Params = FBetaParams;
  static Schema<Params> schema() {
    return with_class_ratio(Schema<Params>("F1 where recall counts beta times as much as precision. It is "
                                           "exact over all samples, for any batches."))
        .example("FBeta: {logits: logits, labels: label, beta: 2}")
        .field("beta", &Params::beta, above(0),
               "weight of recall: above 1, recall counts more than precision; below 1, less; 1: F1")
        .required();
  }
  explicit FBeta(Params p) : p_(std::move(p)) { check_class_ratio(p_, Params().average, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "f_beta", p_.logits.position);
    return class_ratio(model, p_, {.of_predicted = 1, .of_actual = p_.beta * p_.beta}, kOwner);
  }

 private:
  static constexpr const char* kOwner = "metric FBeta";
  Params p_;
};

TPACK_REGISTER(Metric, FBeta, "FBeta");

}  // namespace
}  // namespace tpack
