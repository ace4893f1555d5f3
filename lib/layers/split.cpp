#include <optional>

#include "layers/layer_shapes.h"
#include "model/network_builder.h"
#include "ops/pad.h"

namespace tpack {
namespace {

struct SplitLayerParams {
  std::optional<int64_t> parts;
  std::vector<int64_t> sizes;
  int64_t axis = 1;
};

/// Shapes: x [..., n, ...] -> NAME.0 [..., size, ...], NAME.1, ... Source: PyTorch torch.split, torch.chunk
/// (whose last part may be smaller; here the parts are equal).
class SplitLayer final : public Layer {
 public:
  using Params = SplitLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Splits its input along an axis. Other layers refer to the parts by number: with `name: "
               "halves`, the parts are halves.0 and halves.1.")
        .example("Split: {parts: 2}")
        .field("parts", &Params::parts, at_least(1), "number of equal parts; or `sizes`")
        .field("sizes", &Params::sizes, at_least(1),
               "the size of each part; the sum must be the size of the axis")
        .field("axis", &Params::axis, "0 is the batch, 1 the channels, -1 the last one");
  }
  explicit SplitLayer(Params p) : p_(std::move(p)) {
    if (p_.parts.has_value() != p_.sizes.empty())
      throw ConfigError("layer Split: set one of 'parts' and 'sizes'");
  }

  bool has_main_value() const override { return false; }
  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    Builder& b = network.builder();
    check_input_count(b, in, 1, "what is split");
    const Symbol x = in[0];
    const int axis = axis_of(b, p_.axis, x);
    std::vector<int64_t> begins(x.shape().rank(), 0);
    int64_t number = 0;
    for (const int64_t size : sizes(b, x, axis)) {
      network.add_value(std::to_string(number++), slice(b, x, begins, x.shape().with(axis, size)));
      begins[static_cast<size_t>(axis)] += size;
    }
    return x;
  }

 private:
  std::vector<int64_t> sizes(const Builder& b, const Symbol& x, int axis) const {
    const int64_t all = x.shape()[axis];
    const auto fail = [&](const std::string& why) {
      return ShapeError(b.origin(), b.path() + ": axis " + std::to_string(p_.axis) + " of the input " +
                                        x.spec().str() + " has size " + std::to_string(all) + ", " + why);
    };
    if (p_.parts) {
      if (all % *p_.parts != 0)
        throw fail("which cannot be split into " + std::to_string(*p_.parts) + " equal parts; set 'sizes'");
      std::vector<int64_t> equal(static_cast<size_t>(*p_.parts), all / *p_.parts);
      return equal;
    }
    int64_t sum = 0;
    for (const int64_t size : p_.sizes) sum += size;
    if (sum != all) throw fail("but the sum of 'sizes' is " + std::to_string(sum));
    return p_.sizes;
  }

  Params p_;
};

TPACK_REGISTER(Layer, SplitLayer, "Split");

}  // namespace
}  // namespace tpack
