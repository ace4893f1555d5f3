#include "layers/option_fields.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct VariableLayerParams {
  Shape shape;
  Part<Initializer> initializer;
};

/// Learned numbers that depend on no sample. Shapes: x any -> y of the shape; x is not used. Variable:
/// NAME/value.
class VariableLayer final : public Layer {
 public:
  using Params = VariableLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Learned numbers that are the same for all samples, such as a factor, an offset or a vector. "
               "Other layers use them by name: `Elementwise: x * scale`.")
        .example("Variable: {shape: [16], initializer: {Constant: 1}}")
        .field("shape", &Params::shape, "shape of the result, without a batch axis; [] for one number")
        .field("initializer", &Params::initializer, "initial values; default: zeros");
  }
  explicit VariableLayer(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol /*x*/) const override {
    const nn::InitializeFor initializer = initializer_of(p_.initializer);
    return b.variable("value", p_.shape, initializer ? initializer({1, p_.shape.elements()}) : nullptr);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, VariableLayer, "Variable", "Parameter");

}  // namespace
}  // namespace tpack
