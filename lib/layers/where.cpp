#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

/// Shapes: any three that broadcast -> the broadcast shape.
class Where final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "The second input where the first one is not 0, else the third one: `input: [condition, a, b]`.");
  }
  explicit Where(Params /*p*/) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    check_input_count(b, in, 3, "a condition, values where it is true, values elsewhere");
    return b.select(in[0], in[1], in[2]);
  }
};

TPACK_REGISTER(Layer, Where, "Where");

}  // namespace
}  // namespace tpack
