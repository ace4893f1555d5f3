#include <limits>

#include "metrics/ranking.h"

namespace tpack {
namespace {

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

struct AUCParams : RankingFields {};

/// The share of pairs of a positive and a negative sample where the positive one has the higher score; equal
/// scores count as half a pair. Scores of all samples are kept for it: 8 bytes for each score and label.
/// Shapes: logits [N, K...], labels of their size -> ([N, 2 K], N); logits [N, C], labels int32 [N] -> ([N, C
/// + 1], N). Source: Hanley and McNeil 1982; scikit-learn's roc_auc_score.
class AUC final : public Metric {
 public:
  using Params = AUCParams;
  static Schema<Params> schema() {
    return with_ranking(
               Schema<Params>("Area under the ROC curve: the probability that a positive sample has a higher "
                              "score than a negative one. 1 is perfect, 0.5 is as good as chance. It is "
                              "exact over all samples, for any batches. NaN if all labels are positive, or "
                              "all are negative; a training step then has no value."))
        .example("AUC: {logits: logits, labels: label}");
  }
  explicit AUC(Params p) : p_(std::move(p)) { check_ranking(p_, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "auc", p_.logits.position);
    return ranking(model, p_, area_under_roc, std::numeric_limits<double>::quiet_NaN(), kOwner);
  }

 private:
  static constexpr const char* kOwner = "metric AUC";
  Params p_;
};

TPACK_REGISTER(Metric, AUC, "AUC");

}  // namespace
}  // namespace tpack
