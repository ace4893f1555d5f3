#include "costs/class_losses.h"

#include "ops/gather.h"

namespace tpack {

Schema<ClassificationParams> classification_schema(const std::string& summary) {
  using P = ClassificationParams;
  return Schema<P>(summary)
      .field("logits", &P::logits, "scores [N, classes], or [N, classes, height, width] for pixels")
      .required()
      .field("labels", &P::labels, "class numbers, int32 [N], or [N, height, width] for pixels")
      .required()
      .field(
          "class_weights", &P::class_weights,
          "weights of the samples or pixels of each class: balanced (all classes contribute equally: N / "
          "(classes * samples of the class) in data.train; for masks, counted in up to 1,000), "
          "{effective_number: 0.999} (between balanced and equal weights; Cui et al.), {name: weight}, where "
          "other classes have 1, or a list; default: 1 for each. The sum of weight * loss is divided by N")
      .field("label_smoothing", &P::label_smoothing, between(0.0, 1.0),
             "share of the target that is spread evenly over all classes")
      .field("ignore_label", &P::ignore_label, "samples or pixels with this label do not count in the mean");
}

Classification classification(const ModelView& model, const ClassificationParams& p,
                              const std::string& owner) {
  Builder& b = model.builder();
  model.class_scores(p.logits, owner);  // rejects the output of a softmax
  const Symbol logits = model.scores(p.logits, p.labels);
  if (model.output(p.labels).shape() == logits.shape() && logits.shape()[1] > 1)
    throw ShapeError(p.labels.position, owner + " needs class numbers, but '" + p.labels.name +
                                            "' has the probabilities of all classes, " +
                                            logits.shape().str() + "; use SoftmaxCrossEntropy for them");
  const Symbol labels = model.class_numbers(p.labels, logits);
  const Shape given = model.output(p.logits).shape();
  const Shape losses = given.rank() == 4 ? Shape{given[0], given[2], given[3]} : labels.shape();
  if (!p.ignore_label) return {logits, labels, {}, losses};
  const Symbol is_ignored = b.equal(labels, static_cast<double>(*p.ignore_label));
  return {logits, b.cast(b.select(is_ignored, 0.0, labels), DType::kInt32),
          b.sub(1.0, b.to_float(is_ignored)), losses};
}

PredictionTarget class_target(const ModelView& model, const ClassificationParams& p) {
  const Symbol scores = model.output(p.logits);
  const bool is_soft = bool(model.soft_labels(p.labels, scores));
  PredictionTarget target{TargetClasses::of_scores(scores.shape()), scores,
                          is_soft ? model.class_numbers(p.labels, scores) : model.output(p.labels),
                          p.labels.name};
  if (p.ignore_label) target.ignored = static_cast<double>(*p.ignore_label);
  return target;
}

SampleLosses weighted_losses(const ModelView& model, const ClassificationParams& p, const Classification& of,
                             const ClassLosses& losses) {
  Builder& b = model.builder();
  Symbol all = losses.of_label;
  Symbol weights;
  if (p.class_weights.given()) {
    weights = class_weights(model, p.class_weights, p.labels, of.logits.shape()[1]);
    all = b.mul(all, gather(b, weights, of.labels, 0));
  }
  if (p.label_smoothing > 0) {
    const Symbol each = losses.of_classes();
    const Symbol mean = b.reduce_mean(weights ? b.mul(each, weights) : each, {1});
    all = b.add(b.mul(all, 1 - p.label_smoothing), b.mul(mean, p.label_smoothing));
  }
  const auto by_sample = [&](Symbol x) { return x.shape() == of.losses ? x : b.reshape(x, of.losses); };
  if (!of.counts) return by_sample(all);
  return {by_sample(b.mul(all, of.counts)), by_sample(of.counts)};
}

}  // namespace tpack
