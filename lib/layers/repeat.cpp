#include "model/layer_parser.h"
#include "model/network_builder.h"

namespace tpack {
namespace {

struct RepeatParams {
  int64_t count = 1;
  std::string index = "i";
  int64_t start = 0;
  LayerListField layers;
};

/// The layers one after the other, `count` times, each time with separate variables under "<name>/<index>".
class Repeat final : public Layer {
 public:
  using Params = RepeatParams;
  static Schema<Params> schema() {
    return Schema<Params>("Repeats a list of layers.")
        .example(
            "Repeat: {count: 3, index: block, layers: [{FullyConnected: {units: $(16 * (block + 1)), "
            "activation: ReLU}}]}")
        .field("count", &Params::count, at_least(0), "number of repetitions")
        .field("index", &Params::index, "name of the repetition's number in expressions")
        .field("start", &Params::start, "number of the first repetition")
        .field("layers", &Params::layers, "the layers")
        .required();
  }
  explicit Repeat(Params p) : p_(std::move(p)) {}

  void parse_nested(LayerParser& parser) override {
    for (int64_t i = 0; i < p_.count && !parser.gave_up(); ++i)
      rounds_.push_back(parser.parse_with(p_.layers.list, {{p_.index, p_.start + i}}));
  }
  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    Symbol x = in[0];
    for (size_t i = 0; i < rounds_.size(); ++i) {
      const Builder::NameScope scope(network.builder(), std::to_string(p_.start + static_cast<int64_t>(i)));
      x = network.build(rounds_[i], x);
    }
    return x;
  }

 private:
  Params p_;
  std::vector<ParsedList> rounds_;
};

TPACK_REGISTER(Layer, Repeat, "Repeat");

}  // namespace
}  // namespace tpack
