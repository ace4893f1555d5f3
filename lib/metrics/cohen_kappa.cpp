#include <array>
#include <limits>
#include <numeric>

#include "costs/confusion.h"

namespace tpack {
namespace {

enum class KappaWeights : uint8_t { kNone, kLinear, kQuadratic };

/// The sum of (j - i)^2 p_i t_j over all pairs of classes.
double squared_distances(const ConfusionTotal& total) {
  std::array<double, 3> predicted{};  // sums of i^k p_i
  std::array<double, 3> actual{};
  for (size_t c = 0; c < total.classes(); ++c) {
    double power = 1;
    for (size_t k = 0; k < 3; ++k, power *= static_cast<double>(c)) {
      predicted[k] += power * total.predicted(c);
      actual[k] += power * total.actual(c);
    }
  }
  return predicted[2] * actual[0] - 2 * predicted[1] * actual[1] + predicted[0] * actual[2];
}

/// The sum of |j - i| p_i t_j over all pairs of classes: between class c and the next one, each pair with one
/// class below counts once.
double distances(const ConfusionTotal& total) {
  const double all_predicted = total.all_predicted();
  const double all_actual = total.all_actual();
  double predicted = 0;
  double actual = 0;
  double sum = 0;
  for (size_t c = 0; c < total.classes(); ++c) {
    predicted += total.predicted(c);
    actual += total.actual(c);
    sum += predicted * (all_actual - actual) + (all_predicted - predicted) * actual;
  }
  return sum;
}

/// The parts of ConfusionTotal, with the disagreement before the number of samples.
class KappaAccumulation final : public Accumulation {
 public:
  explicit KappaAccumulation(KappaWeights weights) : weights_(weights) {}

  double value(std::span<const double> parts) const override {
    const ConfusionTotal total(parts.first(parts.size() - 2), parts.back());
    const double by_chance = pairs(total) / total.samples();
    if (by_chance == 0) return std::numeric_limits<double>::quiet_NaN();
    return 1 - parts[parts.size() - 2] / by_chance;
  }

 private:
  double pairs(const ConfusionTotal& total) const {
    if (weights_ == KappaWeights::kLinear) return distances(total);
    if (weights_ == KappaWeights::kQuadratic) return squared_distances(total);
    return total.samples() * total.samples() - total.equal_pairs();
  }

  KappaWeights weights_;
};

struct CohenKappaParams : ClassAnswerFields {
  KappaWeights weights = KappaWeights::kNone;
};

}  // namespace

template <>
struct EnumNames<KappaWeights> {
  static constexpr std::array<std::pair<const char*, KappaWeights>, 3> kNames = {
      {{"none", KappaWeights::kNone},
       {"linear", KappaWeights::kLinear},
       {"quadratic", KappaWeights::kQuadratic}}};
};

namespace {

/// 1 - (disagreement of the samples) / (disagreement if the same predictions and labels were paired by
/// chance). Among equal scores, the first class is predicted; scores that are not all finite never agree, and
/// have no distance: with `weights`, the figure is NaN. Shapes: logits [N, C], labels int32 [N] -> ([3 C +
/// 1], N). Source: Cohen 1960, 1968; scikit-learn's cohen_kappa_score.
class CohenKappa final : public Metric {
 public:
  using Params = CohenKappaParams;
  static Schema<Params> schema() {
    return with_class_answers(
               Schema<Params>(
                   "Agreement of predicted and actual classes beyond chance: 1 is perfect, 0 is as good as "
                   "chance, exact over all samples. NaN if all predictions and labels are the same class."))
        .example("CohenKappa: {logits: logits, labels: label, weights: quadratic}")
        .field("weights", &Params::weights,
               "weight of a wrong class: none, the same for all; linear, the difference of the class "
               "numbers; quadratic, its square");
  }
  explicit CohenKappa(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cohen_kappa", p_.logits.position);
    const ClassAnswers answers = class_answers(model, p_);
    const int64_t classes = answers.actual.shape()[1];
    const Symbol sums = b.reshape(confusion_sums(b, answers), {3 * classes});
    const Symbol of_samples = disagreements(b, answers);
    const Symbol all =
        answers.counts ? b.select(answers.counts, of_samples, 0.0) : of_samples;  // also where it is NaN
    const Symbol disagreement = b.reshape(b.reduce_sum(all), {1});
    return {concat(b, std::vector{sums, disagreement}, 0), answers.samples,
            std::make_shared<const KappaAccumulation>(p_.weights)};
  }

 private:
  /// The disagreement of each sample, [N].
  Symbol disagreements(Builder& b, const ClassAnswers& answers) const {
    const auto sum = [&](Symbol x) { return b.reduce_sum(x, {1}); };
    if (p_.weights == KappaWeights::kNone) return b.sub(1.0, sum(b.mul(answers.predicted, answers.actual)));
    const int64_t classes = answers.actual.shape()[1];
    std::vector<double> numbers(static_cast<size_t>(classes));
    std::iota(numbers.begin(), numbers.end(), 0);
    const Symbol number = b.constant(Tensor::of({1, classes}, numbers).cast(b.float_type()));
    const Symbol distance = sum(b.mul(b.sub(answers.predicted, answers.actual), number));
    const Symbol cost = p_.weights == KappaWeights::kLinear ? b.abs(distance) : b.square(distance);
    const Symbol is_known = b.mul(sum(answers.predicted), sum(answers.actual));  // 0 / 0 of others
    return b.div(b.mul(cost, is_known), is_known);
  }

  Params p_;
};

TPACK_REGISTER(Metric, CohenKappa, "CohenKappa");

}  // namespace
}  // namespace tpack
