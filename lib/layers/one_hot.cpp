#include "ops/one_hot.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct OneHotLayerParams {
  int64_t classes = 0;
};

/// All 0 for a number outside of 0 .. classes - 1. Shapes: x integers [N, ...] -> y [N, ..., classes].
class OneHotLayer final : public Layer {
 public:
  using Params = OneHotLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("A vector for each class number: 1 at the index of the class, 0 elsewhere.")
        .example("OneHot: {classes: 10}")
        .field("classes", &Params::classes, at_least(1), "size of the vector")
        .required()
        .shorthand();
  }
  explicit OneHotLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    const Symbol numbers = nn::integers(b, x, "class numbers");
    std::vector<int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
    sizes.push_back(p_.classes);
    return b.reshape(one_hot(b, b.reshape(numbers, Shape{x.shape().elements()}), p_.classes), Shape(sizes));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, OneHotLayer, "OneHot");

}  // namespace
}  // namespace tpack
