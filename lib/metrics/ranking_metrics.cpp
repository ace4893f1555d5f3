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

/// Scores of all samples are kept until the figure is computed: 8 bytes for each score and label. Shapes:
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

/// The share of pairs of a yes and a no in which the yes has the higher score; a tie is half a pair.
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

/// The mean over the yes of the precision where all samples with at least their score are said to be yes: the
/// sum of (R_n - R_n-1) P_n over the different scores. All of an equal score come at once.
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

constexpr RankingRow kAuc{"AUC", "auc",
                          "Area under the ROC curve: how often a yes has a higher score than a no. 1 is "
                          "perfect, 0.5 is as good as chance. It is exact over all samples, whatever the "
                          "batches. NaN if all labels are yes, or all are no; a step of training then has "
                          "no value.",
                          area_under_roc, std::numeric_limits<double>::quiet_NaN()};
/// The share of pairs of a sample whose label is yes and one whose label is no in which the first has the
/// higher score; equal scores are half a pair. Scores of all samples are kept until then: 8 bytes for each
/// score and label. Shapes: logits [N, K...], labels of their size -> ([N, 2 K], N); logits [N, C], labels
/// int32 [N] -> ([N, C + 1], N). Source: Hanley and McNeil 1982; scikit-learn's roc_auc_score.
using AUC = RankingMetric<kAuc>;
TPACK_REGISTER(Metric, AUC, "AUC");

constexpr RankingRow kAveragePrecision{
    "AveragePrecision", "average_precision",
    "Area under the curve of precision over recall, for labels that are rarely yes: 1 is perfect, the share "
    "of yes is as good as chance. It is exact over all samples, whatever the batches. 0 if no label is yes; "
    "a "
    "step of training then has no value, nor if all are.",
    mean_precision, 0};
/// The mean, over the samples whose label is yes, of the precision where all samples with at least their
/// score are said to be yes: the sum of (R_n - R_n-1) P_n over the different scores. Scores of all samples
/// are kept until then: 8 bytes for each score and label. Shapes: logits [N, K...], labels of their size ->
/// ([N, 2 K], N); logits [N, C], labels int32 [N] -> ([N, C + 1], N). Source: scikit-learn's
/// average_precision_score.
using AveragePrecision = RankingMetric<kAveragePrecision>;
TPACK_REGISTER(Metric, AveragePrecision, "AveragePrecision");

}  // namespace
}  // namespace tpack
