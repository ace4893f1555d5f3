#include <cmath>
#include <numbers>

#include "metrics/image_quality.h"

namespace tpack {
namespace {

struct PSNRParams : ImageQualityFields {};

/// 10 log10(range^2 / mean squared error) of each image, then the mean over images. Shapes: predictions [N,
/// ...], targets of the same shape -> (sum over images, N). Source: scikit-image's peak_signal_noise_ratio of
/// each image.
class PSNR final : public Metric {
 public:
  using Params = PSNRParams;
  static Schema<Params> schema() {
    return with_image_quality_fields(
               Schema<Params>("Peak signal-to-noise ratio of restored images in decibels, the mean of the "
                              "ratios of the images. Predictions are not clipped to the range. Infinite if "
                              "an image is exactly its target."))
        .example("PSNR: {predictions: restored, targets: clean, data_range: 1}");
  }
  explicit PSNR(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "psnr", p_.predictions.position);
    const auto [predictions, targets, range] = compared_images(model, p_, kOwner);
    const Shape& shape = predictions.shape();
    if (shape.rank() < 2)
      throw ShapeError(p_.predictions.position, std::string(kOwner) + ": '" + p_.predictions.name + "' is " +
                                                    predictions.spec().str() +
                                                    ", not images [N, channels, height, width]");
    // In units of the range, so that squares of bytes and of small numbers are equally exact.
    const Symbol error = b.mul(b.sub(predictions, targets), 1 / range);
    const Symbol squares = b.reshape(b.square(error), {shape[0], shape.elements() / shape[0]});
    return sum_and_count(b, b.mul(b.log(b.reduce_mean(squares, {1})), -10 / std::numbers::ln10));
  }

 private:
  static constexpr const char* kOwner = "metric PSNR";
  Params p_;
};

TPACK_REGISTER(Metric, PSNR, "PSNR", "PeakSignalNoiseRatio");

}  // namespace
}  // namespace tpack
