// Metrics of the order of scores, a row each.
#include <limits>

#include "metrics/ranking.h"

namespace tpack {
namespace {

struct RankingRow {
  const char* name;
  const char* scope;
  const char* summary;
  RankingMeasure measure;
  double of_nothing;
};

/// Scores of all samples are kept for it: 8 bytes for each score and label. Shapes:
/// logits [N, K...], labels of their size -> ([N, 2 K], N); logits [N, C], labels int32 [N] -> ([N, C + 1],
/// N).
template <const RankingRow& kRow>
class RankingMetric final : public Metric {
 public:
  struct Params : RankingFields {};
  static Schema<Params> schema() {
    return with_ranking(Schema<Params>(kRow.summary))
        .example(std::string(kRow.name) + ": {logits: logits, labels: label}");
  }
  explicit RankingMetric(Params p) : p_(std::move(p)) { check_ranking(p_, owner()); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), kRow.scope, p_.logits.position);
    return ranking(model, p_, kRow.measure, kRow.of_nothing, owner());
  }

 private:
  static std::string owner() { return std::string("metric ") + kRow.name; }
  Params p_;
};

/// The share of pairs of a positive and a negative where the positive has the higher score; a tie counts as
/// half a pair.
double area_under_roc(std::span<const RankedAnswer> answers) {
  double yes = 0;
  double no = 0;
  double pairs = 0;
  for_each_score(answers, [&](double equal_yes, double equal_no) {
    pairs += equal_no * (yes + equal_yes / 2);
    yes += equal_yes;
    no += equal_no;
  });
  return pairs / (yes * no);  // 0 / 0 if there is no pair
}

/// The mean, over the positives, of the precision if all samples with at least their score are predicted
/// positive: the sum of (R_n - R_n-1) P_n over the different scores. Equal scores are counted together.
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

constexpr RankingRow kAuc{
    "AUC", "auc",
    "Area under the ROC curve: the probability that a positive sample has a higher score than a negative "
    "one. 1 is perfect, 0.5 is as good as chance. It is exact over all samples, for any batches. NaN if all "
    "labels are positive, or all are negative; a training step then has no value.",
    area_under_roc, std::numeric_limits<double>::quiet_NaN()};
/// The share of pairs of a positive and a negative sample where the positive one has the higher score; equal
/// scores count as half a pair. Scores of all samples are kept for it: 8 bytes for each score and label.
/// Shapes: logits [N, K...], labels of their size -> ([N, 2 K], N); logits [N, C], labels int32 [N] -> ([N, C
/// + 1], N). Source: Hanley and McNeil 1982; scikit-learn's roc_auc_score.
using AUC = RankingMetric<kAuc>;
TPACK_REGISTER(Metric, AUC, "AUC");

constexpr RankingRow kAveragePrecision{
    "AveragePrecision", "average_precision",
    "Area under the precision-recall curve, for rare positive labels: 1 is perfect, the share of positives "
    "is as good as chance. It is exact over all samples, for any batches. 0 if no label is positive; a "
    "training step has no value if no label or every label is positive.",
    mean_precision, 0};
/// The mean, over the positive samples, of the precision if all samples with at least their score are
/// predicted positive: the sum of (R_n - R_n-1) P_n over the different scores. Scores of all samples are kept
/// for it: 8 bytes for each score and label. Shapes: logits [N, K...], labels of their size -> ([N, 2 K], N);
/// logits [N, C], labels int32 [N] -> ([N, C + 1], N). Source: scikit-learn's average_precision_score.
using AveragePrecision = RankingMetric<kAveragePrecision>;
TPACK_REGISTER(Metric, AveragePrecision, "AveragePrecision");

}  // namespace
}  // namespace tpack
