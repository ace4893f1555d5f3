#include "layers/initializer.h"
#include "layers/model.h"
#include "ops/matmul.h"

namespace tpack {
namespace {

struct TwinsParams {
  int64_t width = 16;
};

/// One network looks at an image and at its transpose with the same weights; the difference of the two scores
/// gives the class. A list of layers cannot express that. Shapes: image [N, 1, S, S] -> score [N, 1], logits
/// [N, 2]; twin/W [S * S, width], twin/v [width, 1].
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
    const Symbol x = b.reshape(image, {image.shape()[0], Shape::kUnknown});
    const int64_t pixels = x.shape()[1];
    const Symbol w = b.variable("W", {pixels, p_.width}, weights_initializer({}, {pixels, p_.width}));
    const Symbol v = b.variable("v", {p_.width, 1}, weights_initializer({}, {p_.width, 1}));
    return matmul(b, b.max(matmul(b, x, w), 0.0), v);
  }

  Params p_;
};

TPACK_REGISTER(Model, Twins, "Twins");

}  // namespace
}  // namespace tpack
