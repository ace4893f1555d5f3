#include "metrics/class_ratio.h"

namespace tpack {
namespace {

struct IoUParams : ClassRatioFields {
  IoUParams() { average = ClassAverage::kMacro; }
};

/// right / (predicted or actual) of each class, counted over all samples. Among equal scores, the first class
/// is predicted; if a score is not finite, none. Shapes: as F1. Source: Everingham et al. 2010, "The Pascal
/// Visual Object Classes (VOC) Challenge"; scikit-learn's jaccard_score.
class IoU final : public Metric {
 public:
  using Params = IoUParams;
  static Schema<Params> schema() {
    return with_class_ratio(
               Schema<Params>("Intersection over union of predicted and actual pixels (Jaccard index): the "
                              "mean over classes, or, with average: binary, for binary labels of pixels. It "
                              "is exact over all samples, for any batches."))
        .example("IoU: {logits: logits, labels: label}");
  }
  explicit IoU(Params p) : p_(std::move(p)) { check_class_ratio(p_, Params().average, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "iou", p_.logits.position);
    return class_ratio(model, p_, {.of_union = true}, kOwner);
  }

 private:
  static constexpr const char* kOwner = "metric IoU";
  Params p_;
};

TPACK_REGISTER(Metric, IoU, "IoU", "MeanIoU", "JaccardIndex");

}  // namespace
}  // namespace tpack
