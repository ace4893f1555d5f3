#include "model/model.h"
#include "nn/nn.h"

namespace tpack {
namespace {

struct TwinsParams {
  int64_t width = 16;
};

/// One network looks at an image and at its transpose with the same weights; the difference of the two scores
/// gives the class. Shapes: image [N, 1, S, S] -> score [N, 1], logits [N, 2]; twin/features/W [S * S,
/// width], twin/score/W [width, 1].
class Twins final : public Model {
 public:
  using Params = TwinsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Compares a picture with its transpose.")
        .field("width", &Params::width, at_least(1), "features that are looked for");
  }
  explicit Twins(Params p) : p_(p) {}

  std::map<std::string, Symbol> build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    const Symbol image = b.mul(b.sub(b.to_float(in.at("image")), 128.0), 1.0 / 128);
    const Symbol score = b.sub(twin(b, image), twin(b, b.transpose(image, {0, 1, 3, 2})));
    const Symbol logits = b.mul(score, b.constant(Tensor::of<double>({2}, {1, -1}).cast(b.float_type())));
    return {{"score", score}, {"logits", logits}};
  }

 private:
  Symbol twin(Builder& b, Symbol image) const {
    const Builder::NameScope scope(b, "twin");
    const nn::DenseOptions features{.units = p_.width, .use_bias = false, .activation = nn::relu};
    return nn::dense(b, nn::dense(b, image, "features", features), "score", {.units = 1, .use_bias = false});
  }

  Params p_;
};

TPACK_REGISTER(Model, Twins, "Twins");

}  // namespace
}  // namespace tpack
