#include "model/layer_parser.h"
#include "model/network_builder.h"

namespace tpack {
namespace {

struct WithDefaultsParams {
  ConfigNode defaults = ConfigNode::map({});
  LayerListField layers;
};

/// The layers with other defaults, like tensorpack's argscope for a part of a list. Inner names are below its
/// own name.
class WithDefaults final : public Layer {
 public:
  using Params = WithDefaultsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Layers with default parameters by layer type.")
        .example(
            "WithDefaults: {defaults: {Conv2D: {filters: 32, use_bias: false}}, layers: [Conv2D, ReLU, "
            "Conv2D, ReLU]}")
        .field("defaults", &Params::defaults, "parameters by layer type: `Conv2D: {use_bias: false}`")
        .required()
        .field("layers", &Params::layers, "the layers")
        .required();
  }
  explicit WithDefaults(Params p) : p_(std::move(p)) {}

  void parse_nested(LayerParser& parser) override {
    body_ = parser.parse_with_defaults(p_.layers.list, p_.defaults);
  }
  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    return network.build(body_, in[0]);
  }

 private:
  Params p_;
  ParsedList body_;
};

TPACK_REGISTER(Layer, WithDefaults, "WithDefaults");

}  // namespace
}  // namespace tpack
