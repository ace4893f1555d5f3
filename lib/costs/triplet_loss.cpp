#include <array>

#include "costs/loss.h"
#include "layers/embeddings.h"

namespace tpack {
namespace {

/// The choice of triplets in a batch.
enum class Mining : uint8_t { kHard, kSemiHard, kAll };

}  // namespace

template <>
struct EnumNames<Mining> {
  static constexpr std::array<std::pair<const char*, Mining>, 3> kNames = {
      {{"hard", Mining::kHard}, {"semi_hard", Mining::kSemiHard}, {"all", Mining::kAll}}};
};

namespace {

struct TripletLossParams {
  Ref<LayerOutput> embeddings;
  Ref<LayerOutput> labels;
  double margin = 0.3;
  Mining mining = Mining::kSemiHard;
  bool normalize = true;
};

/// max(0, margin + d(a, p) - d(a, n)) for an anchor a, a positive p of its class and a negative n of another
/// class, where d is the distance. Shapes: embeddings [N, D], labels integers [N] -> losses [N] (hard), [N,
/// N] (semi_hard) or [N, N, N] (all). Source: Hermans et al. 2017, "In defense of the triplet loss" (hard is
/// their "batch hard", all their "batch all" without zeros); Schroff et al. 2015, "FaceNet", as in TensorFlow
/// Addons' TripletSemiHardLoss (semi_hard).
class TripletLoss final : public Loss {
 public:
  using Params = TripletLossParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Metric learning: embeddings of the same class should be closer to each other than to those "
               "of other classes, by a margin. Triplets are chosen within each batch, which needs several "
               "samples of each class: see the stage ClassBalanced.")
        .example("TripletLoss: {embeddings: face, labels: person}")
        .field("embeddings", &Params::embeddings, "vectors [N, size]: the output of the network")
        .required()
        .field("labels", &Params::labels, "class numbers, integers [N]")
        .required()
        .field("margin", &Params::margin, above(0), "required difference of the distances")
        .field("mining", &Params::mining,
               "choice of triplets in a batch: semi_hard, for each pair of a class the nearest sample of "
               "another class that is farther away than the pair, or else the farthest one; all, all "
               "triplets with a loss above 0; hard, for each sample the farthest one of its class and the "
               "nearest one of another class. At the start of training, hard may collapse all embeddings to "
               "one point. semi_hard and all need N^3 numbers of memory")
        .field("normalize", &Params::normalize, kNormalizeDoc);
  }
  explicit TripletLoss(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.embeddings.position);
    const std::string owner = kind + " TripletLoss";
    const Symbol x = embeddings_of(model, p_.embeddings, p_.normalize, owner);
    const int64_t samples = x.shape()[0];
    if (b.training() && samples < 3)
      throw ShapeError(p_.embeddings.position,
                       owner + ": a batch of " + std::to_string(samples) +
                           " does not have two samples of one class and one of another; raise batch_size");
    const Pairs pairs = pairs_of(b, x, model.class_numbers(p_.labels, x));
    SampleLosses all = p_.mining == Mining::kHard       ? hard(b, pairs)
                       : p_.mining == Mining::kSemiHard ? semi_hard(b, pairs)
                                                        : every(b, pairs);
    // NaN for a batch without triplets, so that training stops.
    if (b.training())
      all.values = b.add(all.values, b.stop_gradient(b.div(0.0, b.reduce_max(pairs.anchors))));
    return all;
  }

 private:
  struct Pairs {
    int64_t samples = 0;
    Symbol squares;    // of distances, [N, N]
    Symbol positives;  // 1 or 0 for each pair [N, N]: another sample of the class
    Symbol negatives;  // a sample of another class
    Symbol anchors;    // 1 or 0 for each sample [N]: it has both
  };

  static Pairs pairs_of(Builder& b, Symbol x, Symbol labels) {
    const int64_t samples = x.shape()[0];
    const int64_t size = x.shape()[1];
    const Symbol same = same_labels(b, labels);
    Tensor unit = Tensor::zeros({DType::kFloat64, {samples, samples}});
    for (int64_t i = 0; i < samples; ++i) unit.data<double>()[i * samples + i] = 1;
    // Differences first: for close embeddings, squares of lengths would leave no correct digits.
    const Symbol difference = b.sub(b.reshape(x, {samples, 1, size}), b.reshape(x, {1, samples, size}));
    Pairs pairs{samples,
                b.reduce_sum(b.square(difference), {2}),
                b.sub(same, b.constant(unit.cast(b.float_type()))),
                b.sub(1.0, same),
                {}};
    pairs.anchors = b.mul(b.reduce_max(pairs.positives, {1}), b.reduce_max(pairs.negatives, {1}));
    return pairs;
  }
  static Symbol largest(Builder& b, Symbol x, int axis) {
    return b.reduce_max(x, {axis}, Builder::Keep::kYes);
  }
  static Symbol smallest(Builder& b, Symbol x, int axis) { return b.neg(largest(b, b.neg(x), axis)); }
  /// `squares` of distances to the same class and to another class.
  Symbol hinge(Builder& b, Symbol own, Symbol other) const {
    const Symbol nearer = b.sub(distance_of_squares(b, own), distance_of_squares(b, other));
    return b.max(b.add(nearer, p_.margin), 0.0);
  }

  SampleLosses hard(Builder& b, const Pairs& pairs) const {
    const Symbol farthest = largest(b, b.select(pairs.positives, pairs.squares, 0.0), 1);
    const Symbol nearest = smallest(b, b.select(pairs.negatives, pairs.squares, kFar), 1);
    const Symbol losses = b.reshape(hinge(b, farthest, nearest), {pairs.samples});
    return {b.mul(losses, pairs.anchors), pairs.anchors};
  }
  SampleLosses semi_hard(Builder& b, const Pairs& pairs) const {
    const int64_t n = pairs.samples;
    const Symbol own = b.reshape(pairs.squares, {n, n, 1});
    const Symbol other = b.reshape(pairs.squares, {n, 1, n});
    const Symbol is_farther = b.mul(b.reshape(pairs.negatives, {n, 1, n}), b.to_float(b.greater(other, own)));
    const Symbol nearest = b.reshape(smallest(b, b.select(is_farther, other, kFar), 2), {n, n});
    const Symbol farthest = largest(b, b.select(pairs.negatives, pairs.squares, 0.0), 1);
    const Symbol chosen = b.select(b.greater(kFar, nearest), nearest, farthest);
    const Symbol count = b.mul(pairs.positives, b.reshape(pairs.anchors, {n, 1}));
    return {b.mul(hinge(b, pairs.squares, chosen), count), count};
  }
  /// If no triplet has a loss, all count.
  SampleLosses every(Builder& b, const Pairs& pairs) const {
    const int64_t n = pairs.samples;
    const Symbol exist = b.mul(b.reshape(pairs.positives, {n, n, 1}), b.reshape(pairs.negatives, {n, 1, n}));
    const Symbol losses =
        b.mul(hinge(b, b.reshape(pairs.squares, {n, n, 1}), b.reshape(pairs.squares, {n, 1, n})), exist);
    const Symbol cost = b.to_float(b.greater(losses, 0.0));
    return {losses, b.select(b.reduce_max(cost), cost, exist)};
  }

  static constexpr double kFar = 1e30;  // no square is as large
  Params p_;
};

TPACK_REGISTER(Loss, TripletLoss, "TripletLoss");

}  // namespace
}  // namespace tpack
