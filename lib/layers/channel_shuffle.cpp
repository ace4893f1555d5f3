#include "model/layer.h"
#include "nn/enlarge.h"

namespace tpack {
namespace {

struct ChannelShuffleParams {
  int64_t groups = 2;
};

/// Shapes: x [N, C, ...] -> y same. Errors: ShapeError if `groups` does not divide C. Source: Zhang et al.
/// 2017, "ShuffleNet"; equals PyTorch's ChannelShuffle.
class ChannelShuffle final : public Layer {
 public:
  using Params = ChannelShuffleParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Takes one channel of each group in turn, so that a convolution with groups sees channels of "
               "all groups of the one before.")
        .example("ChannelShuffle: {groups: 2}")
        .field("groups", &Params::groups, at_least(1),
               "number of groups of channels; must divide the number of channels")
        .shorthand();
  }
  explicit ChannelShuffle(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::channel_shuffle(b, x, p_.groups); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ChannelShuffle, "ChannelShuffle");

}  // namespace
}  // namespace tpack
