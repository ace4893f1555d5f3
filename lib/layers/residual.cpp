#include "model/layer_parser.h"
#include "model/network_builder.h"

namespace tpack {
namespace {

struct ResidualParams {
  LayerListField layers;
  LayerListField shortcut;
};

/// y = layers(x) + shortcut(x). Variables of the shortcut are below "<name>/shortcut". Shapes: both must be
/// equal. Source: He et al. 2015, "Deep Residual Learning".
class Residual final : public Layer {
 public:
  using Params = ResidualParams;
  static Schema<Params> schema() {
    return Schema<Params>("Adds the output of its layers to its input.")
        .example("Residual: {layers: [{Conv2D: {filters: 4, activation: ReLU}}, {Conv2D: {filters: 4}}]}")
        .field("layers", &Params::layers, "the residual branch")
        .required()
        .field("shortcut", &Params::shortcut, "layers of the shortcut branch; default: the input itself");
  }
  explicit Residual(Params p) : p_(std::move(p)) {}

  void parse_nested(LayerParser& parser) override {
    branch_ = parser.parse(p_.layers.list);
    shortcut_ = parser.parse(p_.shortcut.list);
  }
  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    Builder& b = network.builder();
    const Symbol branch = network.build(branch_, in[0]);
    const Symbol shortcut = build_shortcut(network, in[0]);
    if (!(branch.shape() == shortcut.shape())) {
      throw ShapeError(b.origin(), b.path() + ": the layers produce " + branch.spec().str() +
                                       ", but the shortcut produces " + shortcut.spec().str() +
                                       "; add shortcut layers that produce the same shape");
    }
    return b.add(branch, shortcut);
  }

 private:
  /// In a separate scope: unnamed layers have the same numbers on both branches.
  Symbol build_shortcut(NetworkBuilder& network, Symbol x) const {
    const Builder::NameScope scope(network.builder(), "shortcut");
    return network.build(shortcut_, x);
  }

  Params p_;
  ParsedList branch_;
  ParsedList shortcut_;
};

TPACK_REGISTER(Layer, Residual, "Residual");

}  // namespace
}  // namespace tpack
