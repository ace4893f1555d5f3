#include "costs/confusion.h"
#include "nn/pooling.h"

namespace tpack {
namespace {

struct BoundaryF1Params : ClassAnswerFields {
  int64_t tolerance = 2;
};

/// The mean of 2 P R / (P + R) over all images and their actual or predicted classes. P: the share of the
/// boundary of predicted pixels near the actual boundary; R: the reverse. A boundary consists of the pixels
/// of a class that touch a pixel of another class, corners included; image edges are not boundaries. Shapes:
/// logits [N, C, H, W], labels [N, H, W]. Source: Csurka et al. 2013, "What is a Good Evaluation Measure for
/// Semantic Segmentation?"
class BoundaryF1 final : public Metric {
 public:
  using Params = BoundaryF1Params;
  static Schema<Params> schema() {
    return with_class_answers(
               Schema<Params>("Measures how well the boundaries of predicted areas follow the actual ones: "
                              "the F1 of their pixels for each image and class, averaged."))
        .example("BoundaryF1: {logits: pixel_scores, labels: mask}")
        .field("tolerance", &Params::tolerance, between(0, 1000),
               "largest distance of matching boundaries, pixels in each direction");
  }
  explicit BoundaryF1(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "boundary_f1", p_.logits.position);
    const Shape shape = model.output(p_.logits).shape();
    if (shape.rank() != 4 || shape[1] < 2)
      throw ShapeError(
          p_.logits.position,
          "metric BoundaryF1 needs the scores of pixels for two classes or more, [N, classes, height, "
          "width]; output " +
              p_.logits.name + " has shape " + shape.str());
    const ClassAnswers answers = class_answers(model, p_);
    const auto as_images = [&](Symbol rows) {
      return b.transpose(b.reshape(rows, {shape[0], shape[2], shape[3], rows.shape()[1]}), {0, 3, 1, 2});
    };
    Symbol ignored;
    if (answers.counts)
      ignored = as_images(b.reshape(b.sub(1.0, answers.counts), {shape[0] * shape[2] * shape[3], 1}));
    const Symbol predicted = boundary(b, as_images(answers.predicted), ignored);
    const Symbol actual = boundary(b, as_images(answers.actual), ignored);
    const Symbol precision = share_near(b, predicted, actual);
    const Symbol recall = share_near(b, actual, predicted);
    constexpr double kLeast = 1e-30;  // 0 / 0 is 0
    const Symbol f1 = b.div(b.mul(b.mul(precision, recall), 2.0), b.max(b.add(precision, recall), kLeast));
    const Symbol pixels = b.add(b.reduce_sum(predicted, {2, 3}), b.reduce_sum(actual, {2, 3}));
    return {b.reduce_sum(f1), b.reduce_sum(b.to_float(b.greater(pixels, 0.0)))};
  }

 private:
  /// The largest value within a number of pixels.
  static Symbol widened(Builder& b, Symbol x, int64_t pixels) {
    if (pixels == 0) return x;
    const int64_t side = 2 * pixels + 1;
    return nn::max_pooling(b, x,
                           {.window = {side, side}, .stride = Size2{1, 1}, .padding = PaddingRule::kSame});
  }
  /// Pixels next to ignored ones are not a boundary.
  static Symbol boundary(Builder& b, Symbol areas, Symbol ignored) {
    const Symbol inside = ignored ? b.add(areas, ignored) : areas;
    return b.mul(areas, widened(b, b.sub(1.0, inside), 1));
  }
  Symbol share_near(Builder& b, Symbol pixels, Symbol others) const {
    const Symbol near = b.reduce_sum(b.mul(pixels, widened(b, others, p_.tolerance)), {2, 3});
    return b.div(near, b.max(b.reduce_sum(pixels, {2, 3}), 1.0));
  }

  Params p_;
};

TPACK_REGISTER(Metric, BoundaryF1, "BoundaryF1");

}  // namespace
}  // namespace tpack
