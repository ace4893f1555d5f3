#include "graph/passes/gradient.h"

#include "layers/layer_shapes.h"
#include "model/network_builder.h"

namespace tpack {
namespace {

struct GradientParams {
  Ref<LayerOutput> wrt;
};

/// The gradient of the sum of its input as nodes of the graph, so it can be differentiated again. Shapes: x
/// any -> the shape of `wrt`.
class Gradient final : public Layer {
 public:
  using Params = GradientParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Gradient of the sum of its input with respect to an output: `Gradient: {input: "
               "score, wrt: image}`. A cost may use it: it is differentiated again.")
        .example("Gradient: image")
        .field("wrt", &Params::wrt, "float layer or input that this layer's input depends on")
        .required()
        .shorthand();
  }
  explicit Gradient(Params p) : p_(std::move(p)) {}

  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    Builder& b = network.builder();
    if (in.size() != 1)
      throw ShapeError(b.origin(), b.path() + ": takes one input, not " + std::to_string(in.size()));
    nn::check_float_input(b, in[0]);
    const std::vector<Symbol> wrt = {network.output(p_.wrt)};
    const std::vector<Symbol> seeds = {b.constant(1, in[0].shape())};
    const Symbol found = vector_jacobian(b, in, seeds, wrt)[0];
    if (!found) {
      throw ConfigError(p_.wrt.position, b.path() + ": no gradient reaches '" + p_.wrt.name +
                                             "' from the layer's input; name an output of floats that the "
                                             "input is computed from");
    }
    return found;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Gradient, "Gradient");

}  // namespace
}  // namespace tpack
