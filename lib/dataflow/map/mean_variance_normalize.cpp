#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/registry.h"
#include "dataflow/map/channel_groups.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

struct MeanVarianceNormalizeParams {
  bool all_channels = true;
};

/// y = (x - mean) / max(deviation, 1 / sqrt(elements)), for each sample. Shapes: x [..., channels] -> y same,
/// float32. Source: tensorpack imgaug/meta.py, MeanVarianceNormalize; TensorFlow's
/// image.per_image_standardization.
class MeanVarianceNormalize final : public TensorMap {
 public:
  using Params = MeanVarianceNormalizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Scales each image (or other sample) to mean 0 and standard deviation 1, as float32. The "
               "standard deviation is at least 1 / sqrt(elements), so images of one color become 0. To use "
               "one mean and standard deviation for all samples, use Standardize.")
        .example("MeanVarianceNormalize: {all_channels: false}")
        .field("all_channels", &Params::all_channels,
               "true: one mean and standard deviation for all channels; false: one for each channel");
  }
  explicit MeanVarianceNormalize(Params p) : p_(p) {}

  TensorSpec spec(const TensorSpec& in) const override { return {DType::kFloat32, in.shape}; }
  void apply(const Tensor& in, const Tensor& out) const override {
    for_each_channel_group(in, out, p_.all_channels,
                           [&](const auto* from, float* to, ChannelGroup of) { normalize(from, to, of); });
  }

 private:
  template <class T>
  static void normalize(const T* in, float* out, ChannelGroup of) {
    const auto count = static_cast<double>(of.size());
    double sum = 0;
    for (int64_t i = of.first; i < of.end; i += of.step) sum += static_cast<double>(in[i]);
    const double mean = sum / count;
    double squares = 0;
    for (int64_t i = of.first; i < of.end; i += of.step) {
      const double from_mean = static_cast<double>(in[i]) - mean;
      squares += from_mean * from_mean;
    }
    const double deviation = std::max(std::sqrt(squares / count), 1 / std::sqrt(static_cast<double>(of.end)));
    for (int64_t i = of.first; i < of.end; i += of.step)
      out[i] = static_cast<float>((static_cast<double>(in[i]) - mean) / deviation);
  }

  Params p_;
};

TPACK_REGISTER(TensorMap, MeanVarianceNormalize, "MeanVarianceNormalize", "PerImageStandardization");

}  // namespace
}  // namespace tpack
