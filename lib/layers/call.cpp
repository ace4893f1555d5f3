#include "model/layer_parser.h"
#include "model/network_builder.h"

namespace tpack {
namespace {

struct CallParams {
  Ref<NetworkName> network;
};

/// A call of a network: all calls of one network share its variables, which are below the network's name;
/// outputs of its layers are below the call's name. Shapes: those of the network.
class Call final : public Layer {
 public:
  using Params = CallParams;
  static Schema<Params> schema() {
    return Schema<Params>("Calls a network of model.networks; all calls share its variables.")
        .example("Call: discriminator")
        .field("network", &Params::network, "name of the network")
        .required()
        .shorthand();
  }
  explicit Call(Params p) : p_(std::move(p)) {}

  void parse_nested(LayerParser& parser) override { network_ = parser.network(p_.network); }
  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    return network.call(*network_, in, p_.network.position);
  }

 private:
  Params p_;
  std::shared_ptr<const Network> network_;
};

TPACK_REGISTER(Layer, Call, "Call");

}  // namespace
}  // namespace tpack
