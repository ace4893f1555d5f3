#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/channel_groups.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

struct MinMaxNormalizeParams {
  double min = 0;
  double max = 255;
  bool all_channels = true;
};

/// y = min + (x - least) / (most - least) * (max - min), for each sample; min if all x are equal. Shapes: x
/// [..., channels] -> y same, float32. Source: tensorpack imgaug/meta.py, MinMaxNormalize.
class MinMaxNormalize final : public TensorMap {
 public:
  using Params = MinMaxNormalizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Scales each image (or other sample) from its own smallest and largest values to a given "
               "range, as float32. An image with only one value becomes the lower end of the range.")
        .example("MinMaxNormalize: {min: 0, max: 1}")
        .field("min", &Params::min, "result for the smallest value")
        .field("max", &Params::max, "result for the largest value")
        .field("all_channels", &Params::all_channels,
               "true: one range for all channels; false: one for each channel");
  }
  explicit MinMaxNormalize(Params p) : p_(p) {
    if (p_.min >= p_.max) throw ConfigError("MinMaxNormalize: 'min' must be below 'max'; swap them");
  }

  TensorSpec spec(const TensorSpec& in) const override { return {DType::kFloat32, in.shape}; }
  void apply(const Tensor& in, const Tensor& out) const override {
    for_each_channel_group(in, out, p_.all_channels,
                           [&](const auto* from, float* to, ChannelGroup of) { normalize(from, to, of); });
  }

 private:
  template <class T>
  void normalize(const T* in, float* out, ChannelGroup of) const {
    if (of.first >= of.end) return;
    auto least = static_cast<double>(in[of.first]);
    double most = least;
    for (int64_t i = of.first; i < of.end; i += of.step) {
      least = std::min(least, static_cast<double>(in[i]));
      most = std::max(most, static_cast<double>(in[i]));
    }
    const double scale = most > least ? (p_.max - p_.min) / (most - least) : 0;
    for (int64_t i = of.first; i < of.end; i += of.step)
      out[i] = static_cast<float>(p_.min + (static_cast<double>(in[i]) - least) * scale);
  }

  Params p_;
};

TPACK_REGISTER(TensorMap, MinMaxNormalize, "MinMaxNormalize");

}  // namespace
}  // namespace tpack
