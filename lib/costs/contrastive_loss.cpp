#include <vector>

#include "costs/loss.h"
#include "layers/embeddings.h"

namespace tpack {
namespace {

struct ContrastiveLossParams {
  std::vector<Ref<LayerOutput>> embeddings;
  Ref<LayerOutput> same;
  double margin = 1;
  bool normalize = true;
};

/// d^2 / 2 for the distance d of a pair of the same class, max(0, margin - d)^2 / 2 for other pairs. Shapes:
/// two embeddings [N, D], same [N] -> losses [N]. Source: Hadsell et al. 2006, "Dimensionality reduction by
/// learning an invariant mapping".
class ContrastiveLoss final : public Loss {
 public:
  using Params = ContrastiveLossParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Metric learning with pairs (a siamese network): embeddings of the same class should be "
               "equal, those of different classes at least a margin apart.")
        .example("ContrastiveLoss: {embeddings: [left, right], same: match}")
        .field("embeddings", &Params::embeddings, "the two embeddings of each pair, both [N, size]")
        .required()
        .field("same", &Params::same,
               "whether the two share a class [N]: above 0.5 means yes; see the stage PairData")
        .required()
        .field("margin", &Params::margin, above(0), "smallest distance at which two classes cost nothing")
        .field("normalize", &Params::normalize, kNormalizeDoc);
  }
  explicit ContrastiveLoss(Params p) : p_(std::move(p)) {
    if (p_.embeddings.size() != 2)
      throw ConfigError("'embeddings' of ContrastiveLoss has " + std::to_string(p_.embeddings.size()) +
                        " outputs; name the two of a pair, [left, right]");
  }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.embeddings[0].position);
    const std::string owner = kind + " ContrastiveLoss";
    const Symbol x = embeddings_of(model, p_.embeddings[0], p_.normalize, owner);
    const Symbol y = embeddings_of(model, p_.embeddings[1], p_.normalize, owner);
    if (x.shape() != y.shape())
      throw ShapeError(p_.embeddings[1].position, owner + ": '" + p_.embeddings[1].name + "' is " +
                                                      y.spec().str() + ", but '" + p_.embeddings[0].name +
                                                      "' is " + x.spec().str() +
                                                      "; call one network for both (layer Call)");
    const Symbol difference = b.sub(x, y);
    const Symbol same = model.like({0, p_.same}, b.reduce_sum(difference, {1})).symbol;
    const Symbol one = b.stop_gradient(b.add(b.mul(same, 0.0), 1.0));  // NaN if `same` is NaN
    const Symbol squares = b.mul(b.reduce_sum(b.square(difference), {1}), one);
    const Symbol lack = b.max(b.sub(p_.margin, distance_of_squares(b, squares)), 0.0);
    return b.mul(b.select(b.greater(same, 0.5), squares, b.square(lack)), 0.5);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, ContrastiveLoss, "ContrastiveLoss");

}  // namespace
}  // namespace tpack
