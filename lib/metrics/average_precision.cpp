#include "metrics/ranking.h"

namespace tpack {
namespace {

/// The mean, over the positives, of the precision at their score. Equal scores are counted together.
double mean_precision(std::span<const RankedAnswer> answers) {
  double all = 0;
  double yes = 0;
  double sum = 0;
  for_each_score(answers, [&](double equal_yes, double equal_no) {
    all += equal_yes + equal_no;
    yes += equal_yes;
    sum += equal_yes * yes / all;
  });
  return sum / yes;
}

struct AveragePrecisionParams : RankingFields {};

/// The mean, over the positive samples, of the precision if all samples with at least their score are
/// predicted positive: the sum of (R_n - R_n-1) P_n over the different scores. Scores of all samples are kept
/// for it: 8 bytes for each score and label. Shapes: logits [N, K...], labels of their size -> ([N, 2 K], N);
/// logits [N, C], labels int32 [N] -> ([N, C + 1], N). Source: scikit-learn's average_precision_score.
class AveragePrecision final : public Metric {
 public:
  using Params = AveragePrecisionParams;
  static Schema<Params> schema() {
    return with_ranking(Schema<Params>("Area under the precision-recall curve, for rare positive labels: 1 "
                                       "is perfect, the share of positives is as good as chance. It is exact "
                                       "over all samples, for any batches. 0 if no label is positive; a "
                                       "training step has no value if no label or every label is positive."))
        .example("AveragePrecision: {logits: logits, labels: label}");
  }
  explicit AveragePrecision(Params p) : p_(std::move(p)) { check_ranking(p_, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "average_precision", p_.logits.position);
    return ranking(model, p_, mean_precision, 0, kOwner);
  }

 private:
  static constexpr const char* kOwner = "metric AveragePrecision";
  Params p_;
};

TPACK_REGISTER(Metric, AveragePrecision, "AveragePrecision");

}  // namespace
}  // namespace tpack
