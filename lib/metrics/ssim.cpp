#include <array>
#include <cmath>
#include <vector>

#include "metrics/image_quality.h"
#include "ops/concat.h"
#include "ops/convolution.h"
#include "ops/pad.h"

namespace tpack {
namespace {

struct SSIMParams : ImageQualityFields {};

constexpr int64_t kWindow = 11;

/// A normal distribution with standard deviation 1.5.
std::vector<double> window() {
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < kWindow; ++i) {
    const auto x = static_cast<double>(2 * i - kWindow + 1) / 3;  // twice the distance and the deviation
    sum += weights.emplace_back(std::exp(-x * x / 2));
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Means over the windows inside the images. Shapes: [M, 1, H, W] -> [M, 1, H - 10, W - 10].
Symbol windowed(Builder& b, Symbol images) {
  for (const Shape& kernel : {Shape{1, 1, kWindow, 1}, Shape{1, 1, 1, kWindow}})
    images =
        convolution(b, images, b.constant(Tensor::of<double>(kernel, window()).cast(b.float_type())), {});
  return images;
}

/// (2 mx my + c1) (2 cov + c2) / ((mx^2 + my^2 + c1) (vx + vy + c2)) of each window, with c = (k range)^2 and
/// the means, variances and covariance of the window; then the mean over windows, channels and images.
/// Shapes: predictions [N, C, H, W] or [N, H, W], targets of the same shape -> (sum over images and channels,
/// N C). Source: Wang et al. 2004, "Image quality assessment"; scikit-image's structural_similarity with
/// gaussian_weights=True, sigma=1.5, use_sample_covariance=False.
class SSIM final : public Metric {
 public:
  using Params = SSIMParams;
  static Schema<Params> schema() {
    return with_image_quality_fields(
               Schema<Params>("Structural similarity of restored images and their targets, 1 if they are "
                              "equal: the mean over channels and windows of 11 x 11 pixels with Gaussian "
                              "weights of deviation 1.5, K1 0.01 and K2 0.03."))
        .example("SSIM: {predictions: restored, targets: clean, data_range: 1}");
  }
  explicit SSIM(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "ssim", p_.predictions.position);
    const ComparedImages compared = compared_images(model, p_, kOwner);
    const double range = compared.range;
    const Shape& shape = compared.predictions.shape();
    const size_t rank = shape.rank();
    if (rank != 3 && rank != 4)
      throw ShapeError(p_.predictions.position, std::string(kOwner) + ": '" + p_.predictions.name + "' is " +
                                                    compared.predictions.spec().str() +
                                                    ", not images [N, channels, height, width]");
    const int64_t height = shape[static_cast<int>(rank) - 2];
    const int64_t width = shape[static_cast<int>(rank) - 1];
    if (height < kWindow || width < kWindow)
      throw ShapeError(p_.predictions.position,
                       std::string(kOwner) + ": images of " + std::to_string(height) + " x " +
                           std::to_string(width) +
                           " pixels are smaller than the window of 11 x 11; use PSNR for such images");
    const int64_t count = shape.elements() / (height * width);
    const auto planes = [&](Symbol x) { return b.reshape(b.mul(x, 1 / range), {count, 1, height, width}); };
    const Symbol y = planes(compared.targets);
    // Variances are differences of squares, which are most exact near 0.
    const Symbol middle = b.reduce_mean(y, {1, 2, 3}, Builder::Keep::kYes);
    return sum_and_count(
        b, similarity(b, b.sub(planes(compared.predictions), middle), b.sub(y, middle), middle));
  }

 private:
  /// The SSIM of planes [M, 1, H, W] minus `middle` [M, 1, 1, 1], in units of the range -> [M].
  static Symbol similarity(Builder& b, Symbol x, Symbol y, Symbol middle) {
    constexpr double kOfMeans = 0.01 * 0.01;
    constexpr double kOfVariances = 0.03 * 0.03;
    const std::vector<Symbol> moments = {x, y, b.square(x), b.square(y), b.mul(x, y)};
    const Symbol means = windowed(b, concat(b, moments, 0));
    const int64_t count = x.shape()[0];
    const auto part = [&](int64_t k) {
      return slice(b, means, {k * count, 0, 0, 0}, means.shape().with(0, count));
    };
    const Symbol mean_x = part(0);
    const Symbol mean_y = part(1);
    const Symbol variances = b.add(b.sub(part(2), b.square(mean_x)), b.sub(part(3), b.square(mean_y)));
    const Symbol covariance = b.sub(part(4), b.mul(mean_x, mean_y));
    const Symbol of_x = b.add(mean_x, middle);
    const Symbol of_y = b.add(mean_y, middle);
    const Symbol light = b.div(b.add(b.mul(b.mul(of_x, of_y), 2.0), kOfMeans),
                               b.add(b.add(b.square(of_x), b.square(of_y)), kOfMeans));
    const Symbol structure =
        b.div(b.add(b.mul(covariance, 2.0), kOfVariances), b.add(variances, kOfVariances));
    return b.reduce_mean(b.mul(light, structure), {1, 2, 3});
  }

  static constexpr const char* kOwner = "metric SSIM";
  Params p_;
};

TPACK_REGISTER(Metric, SSIM, "SSIM", "StructuralSimilarity");

}  // namespace
}  // namespace tpack
