#include <array>
#include <limits>

#include "layers/cost.h"
#include "ops/arg_max.h"
#include "ops/concat.h"
#include "ops/one_hot.h"

namespace tpack {
namespace {

enum class Averaging : uint8_t { kMacro, kMicro };

/// The parts are numbers of samples: for each class of those that are right, then of those that are predicted
/// to be of the class, then of those that are; at the end of all.
class F1Accumulation final : public Accumulation {
 public:
  explicit F1Accumulation(Averaging average) : average_(average) {}

  double value(std::span<const double> total) const override {
    if (total.back() == 0) return std::numeric_limits<double>::quiet_NaN();
    const size_t classes = (total.size() - 1) / 3;
    double all_right = 0;
    double all_named = 0;  // predicted or actual
    double sum = 0;
    double found = 0;  // classes
    for (size_t c = 0; c < classes; ++c) {
      const double right = total[c];
      const double named = total[classes + c] + total[2 * classes + c];
      all_right += right;
      all_named += named;
      if (named == 0) continue;
      sum += 2 * right / named;
      ++found;
    }
    if (average_ == Averaging::kMacro) return found == 0 ? 0 : sum / found;
    return all_named == 0 ? 0 : 2 * all_right / all_named;
  }

 private:
  Averaging average_;
};

struct F1Params {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  Averaging average = Averaging::kMacro;
};

}  // namespace

template <>
struct EnumNames<Averaging> {
  static constexpr std::array<std::pair<const char*, Averaging>, 2> kNames = {
      {{"macro", Averaging::kMacro}, {"micro", Averaging::kMicro}}};
};

namespace {

/// 2 right / (predicted + actual) of each class. Of equal scores, the first class is predicted; of scores
/// that are not all finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N). Source:
/// scikit-learn's f1_score with zero_division=0.
class F1 final : public Metric {
 public:
  using Params = F1Params;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Harmonic mean of precision and recall, of samples of one of several classes. It is exact "
               "over "
               "all samples, whatever the batches.")
        .example("F1: {logits: logits, labels: label}")
        .field("logits", &Params::logits, "scores [N, classes]")
        .required()
        .field("labels", &Params::labels, "class numbers, int32 [N]")
        .required()
        .field("average", &Params::average,
               "macro: the mean over the classes that are predicted or actual for some sample; micro: of the "
               "sums over all classes");
  }
  explicit F1(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "f1", p_.logits.position);
    const Symbol scores = b.to_float(model.output(p_.logits));
    const Symbol labels = model.class_numbers(p_.labels, scores);
    const int64_t classes = scores.shape()[1];
    const Symbol is_number = b.equal(b.reduce_sum(b.sub(scores, scores), {1}, Builder::Keep::kYes), 0.0);
    const Symbol predicted =
        b.mul(one_hot(b, b.emit<ArgMax>({1}, {scores}).out(), classes), b.to_float(is_number));
    const Symbol actual = one_hot(b, labels, classes);
    std::vector<Symbol> rows;
    for (const Symbol& samples : {b.mul(predicted, actual), predicted, actual})
      rows.push_back(b.reduce_sum(samples, {0}, Builder::Keep::kYes));
    return {concat(b, rows, 0), b.constant(static_cast<double>(scores.shape()[0])),
            std::make_shared<const F1Accumulation>(p_.average)};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, F1, "F1");

}  // namespace
}  // namespace tpack
