#include "layers/layer.h"

namespace tpack {
namespace {

struct NormalizeParams {
  double scale = 1.0 / 255;
  double offset = 0;
};

/// Shapes: x any -> y same, in the float type: how images of bytes enter a network.
class Normalize final : public Layer {
 public:
  using Params = NormalizeParams;
  static Schema<Params> schema() {
    return Schema<Params>("y = x * scale + offset.")
        .example("Normalize: {scale: 0.00784313725490196, offset: -1}")
        .field("scale", &Params::scale, "factor")
        .field("offset", &Params::offset, "added after scaling");
  }
  explicit Normalize(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return b.add(b.mul(b.to_float(x), p_.scale), p_.offset);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Normalize, "Normalize");

}  // namespace
}  // namespace tpack
