#include <array>
#include <cmath>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/batch_mix.h"

namespace tpack {
namespace {

struct MosaicParams : BatchMixParams {
  std::vector<double> scale = {0.5, 1};
};

/// Source: Bochkovskiy et al. 2020, "YOLOv4: Optimal Speed and Accuracy of Object Detection"; labels in
/// proportion to areas as in Takahashi et al. 2018, "Data Augmentation using Random Image Cropping and
/// Patching".
class Mosaic final : public BatchMix {
 public:
  using Params = MosaicParams;
  static Schema<Params> schema() {
    return with_batch_mix(
        Schema<Params>("Builds each image from parts of four images of the batch that meet at a point, with "
                       "their masks, and mixes their labels in proportion to the areas.")
            .example("Mosaic: {classes: 10}")
            .field("scale", &Params::scale,
                   "[least, most] scale of the images, from 0.5 to 1; an image is at least as large as its "
                   "part of the new image"));
  }
  explicit Mosaic(const Params& p) : BatchMix(p, "map Mosaic"), scale_(p.scale) {
    if (scale_.size() != 2 || scale_[0] < 0.5 || scale_[1] > 1 || scale_[0] > scale_[1])
      throw ConfigError("Mosaic: 'scale' must be [least, most], from 0.5 to 1");
  }

 private:
  std::vector<MixPart> draw(int64_t row, int64_t samples, cv::Size size, Rng& rng) const override {
    // In the middle half, so that each part is at most three quarters of a side.
    const auto middle = [&rng](int whole) { return rng.range(whole / 4, whole - whole / 4); };
    const cv::Point meet(middle(size.width), middle(size.height));
    const std::array<cv::Rect, 4> places = {
        cv::Rect(0, 0, meet.x, meet.y), cv::Rect(meet.x, 0, size.width - meet.x, meet.y),
        cv::Rect(0, meet.y, meet.x, size.height - meet.y),
        cv::Rect(meet.x, meet.y, size.width - meet.x, size.height - meet.y)};
    const auto own = static_cast<size_t>(rng.below(4));
    std::vector<MixPart> parts;
    for (size_t k = 0; k < places.size(); ++k) {
      const cv::Rect& to = places[k];
      if (to.empty()) continue;  // for images of a few pixels
      const int64_t sample = k == own ? row : other_sample(row, samples, rng);
      const double weight = static_cast<double>(to.area()) / static_cast<double>(size.area());
      parts.push_back({sample, weight, crop(to.size(), size, rng), to});
    }
    return parts;
  }
  /// The part of an image that fills the target at the drawn scale.
  cv::Rect crop(cv::Size place, cv::Size size, Rng& rng) const {
    const double scale = scale_[0] + (scale_[1] - scale_[0]) * rng.uniform64();
    const auto side = [scale](int part, int whole) {
      return std::min(whole, static_cast<int>(std::lround(part / scale)));
    };
    const cv::Size seen(side(place.width, size.width), side(place.height, size.height));
    return {{rng.range(0, size.width - seen.width), rng.range(0, size.height - seen.height)}, seen};
  }

  std::vector<double> scale_;
};

TPACK_REGISTER(Map, Mosaic, "Mosaic");

}  // namespace
}  // namespace tpack
