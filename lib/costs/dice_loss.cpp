#include "costs/binary_prediction.h"
#include "costs/class_losses.h"
#include "costs/confusion.h"
#include "costs/loss.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

struct DiceLossParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  double false_positives = 0.5;
  double false_negatives = 0.5;
  double smooth = 1;
  std::optional<int64_t> ignore_label = {};
};

/// 1 - (right + s) / (right + a false positives + b false negatives + s) of each image and class, computed
/// with probabilities; with a = b = 0.5 the Dice coefficient, otherwise Tversky's index. Shapes: logits [N,
/// C, H, W], labels integers [N, H, W]; for binary labels, labels of the logits' shape except for axes of
/// size 1 -> losses [N, C]. Source: Milletari et al. 2016, "V-Net"; Salehi et al. 2017, "Tversky loss
/// function for image segmentation using 3D fully convolutional deep networks".
class DiceLoss final : public Loss {
 public:
  using Params = DiceLossParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Segmentation with equal weight for all classes, even small ones: 1 - the overlap (Dice "
               "coefficient) of probabilities and classes, the mean over images and classes. Usually "
               "combined with a cross entropy.")
        .example("DiceLoss: {logits: logits, labels: label}")
        .field("logits", &Params::logits,
               "scores of pixels [N, classes, height, width], or of binary labels for each channel")
        .required()
        .field("labels", &Params::labels,
               "class numbers, integers [N, height, width]; or binary labels, 1 or 0 for each score")
        .required()
        .field("false_positives", &Params::false_positives, at_least(0),
               "weight of pixels wrongly predicted as a class (Tversky's alpha)")
        .field("false_negatives", &Params::false_negatives, at_least(0),
               "weight of pixels of a class that are predicted as another one (Tversky's beta); a larger "
               "value than false_positives finds more of a rare class")
        .field("smooth", &Params::smooth, above(0),
               "added to numerator and denominator, so that a class that is neither present nor predicted "
               "costs nothing")
        .field("ignore_label", &Params::ignore_label, "pixels with this label do not count");
  }
  explicit DiceLoss(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Overlap of = is_binary(model) ? binary(model, kind) : classes(model, kind);
    const auto sum = [&](Symbol x) { return b.reduce_sum(x, {1}); };
    const Symbol right = sum(b.mul(of.yes, of.facts));
    const Symbol wrong_yes = sum(b.mul(of.yes, of.others));
    const Symbol wrong_no = sum(b.mul(of.no, of.facts));
    const Symbol wrong = b.add(b.mul(wrong_yes, p_.false_positives), b.mul(wrong_no, p_.false_negatives));
    return b.div(wrong, b.add(b.add(right, p_.smooth), wrong));
  }

 private:
  /// [N, pixels, C]. An ignored pixel is neither of a class nor of any other.
  struct Overlap {
    Symbol yes;     // probability
    Symbol no;      // 1 minus it, exact if small
    Symbol facts;   // 1 if the pixel belongs to the class
    Symbol others;  // 1 if it is not
  };

  bool is_binary(const ModelView& model) const {
    return model.output(p_.logits).shape().elements() == model.output(p_.labels).shape().elements();
  }
  /// Each channel is a separate binary label.
  Overlap binary(const ModelView& model, const std::string& kind) const {
    Builder& b = model.builder();
    const BinaryFields fields{p_.logits, {0, p_.labels}};
    const Symbol x = logits_of(model, fields, kind + " DiceLoss");
    const Symbol given = model.like(fields.labels, x).symbol;
    const bool are_images = x.shape().rank() == 4;
    const int64_t channels = are_images ? x.shape()[1] : 1;
    const auto channels_last = [&](Symbol values) {
      return are_images && channels > 1 ? b.transpose(values, {0, 2, 3, 1}) : values;
    };
    const Symbol logits = channels_last(x);
    const Symbol labels = channels_last(given);
    const Symbol counts = p_.ignore_label ? counts_of(b, labels, *p_.ignore_label) : Symbol{};
    return by_image(b, {b.sigmoid(logits), b.sigmoid(b.neg(logits)), labels, {}}, x.shape()[0], channels,
                    counts);
  }
  Overlap classes(const ModelView& model, const std::string& kind) const {
    Builder& b = model.builder();
    const Classification of = classification(
        model,
        {.logits = p_.logits, .labels = p_.labels, .class_weights = {}, .ignore_label = p_.ignore_label},
        kind + " DiceLoss");
    const int64_t count = of.logits.shape()[1];
    const Symbol facts = one_hot(b, of.labels, count);
    // NaN for a label that is not a class, so that training stops.
    const Symbol bad = b.stop_gradient(b.div(0.0, b.reduce_sum(facts, {1}, Builder::Keep::kYes)));
    const Symbol yes = b.add(softmax(b, of.logits), bad);
    return by_image(b, {yes, b.sub(1.0, yes), facts, {}}, of.losses[0], count, of.counts);
  }
  /// `others` is computed from `facts` and the labels that count: 1 or 0 for each label; empty: all.
  static Overlap by_image(Builder& b, Overlap of, int64_t samples, int64_t classes, Symbol counts) {
    const int64_t pixels = of.yes.shape().elements() / (samples * classes);
    for (Symbol* x : {&of.yes, &of.no, &of.facts}) *x = b.reshape(*x, {samples, pixels, classes});
    if (!counts) {
      of.others = b.sub(1.0, of.facts);
      return of;
    }
    counts = b.reshape(counts, {samples, pixels, counts.shape().elements() / (samples * pixels)});
    of.facts = b.mul(of.facts, counts);
    of.others = b.sub(counts, of.facts);
    return of;
  }

  Params p_;
};

TPACK_REGISTER(Loss, DiceLoss, "DiceLoss");

}  // namespace
}  // namespace tpack
