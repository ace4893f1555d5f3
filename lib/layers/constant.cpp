#include <vector>

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct ConstantLayerParams {
  std::vector<double> value;
  Shape shape;
};

/// Shapes: x any -> y of the shape; x is not used.
class ConstantLayer final : public Layer {
 public:
  using Params = ConstantLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Numbers that are not trained.")
        .example("Constant: {value: [0.5, 0.25], shape: [2]}")
        .field("value", &Params::value, "the numbers in row-major order, or one number for all elements")
        .required()
        .field("shape", &Params::shape,
               "shape of the result, without a batch axis unless you include one; [] for one number");
  }
  explicit ConstantLayer(Params p) : p_(std::move(p)) {
    const auto count = static_cast<size_t>(p_.shape.elements());
    if (p_.value.size() == 1) p_.value.resize(count, p_.value[0]);
    if (p_.value.size() != count)
      throw ConfigError("layer Constant: 'value' has " + std::to_string(p_.value.size()) +
                        " numbers, but shape " + p_.shape.str() + " needs " + std::to_string(count) +
                        ", or 1");
  }

  Symbol build(Builder& b, Symbol /*x*/) const override {
    return b.constant(Tensor::of<double>(p_.shape, p_.value).cast(b.float_type()));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ConstantLayer, "Constant");

}  // namespace
}  // namespace tpack
