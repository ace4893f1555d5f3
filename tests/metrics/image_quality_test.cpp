// PSNR and SSIM.
#include "metrics/image_quality.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/metric_value.h"

namespace tpack {
namespace {

/// Two images of three channels in bytes: those of `target` are restored with an error.
struct RestoredImages {
  Tensor restored;
  Tensor clean;
};
RestoredImages restored_images() {
  const Shape shape{2, 3, 20, 17};
  std::vector<double> restored;
  std::vector<double> clean;
  for (int64_t k = 0; k < shape.elements(); ++k) {
    const auto i = static_cast<double>(k);
    clean.push_back(std::floor(128 + 100 * std::sin(i * 0.37) + 20 * std::cos(i * i * 0.01)));
    restored.push_back(std::floor(clean.back() * 0.9 + 10 + 15 * std::sin(i * 1.7)));
  }
  return {Tensor::of(shape, restored), Tensor::of(shape, clean)};
}

/// scikit-image 0.25: peak_signal_noise_ratio(clean, restored, data_range=255) and
/// structural_similarity(clean, restored, data_range=255, channel_axis=0, gaussian_weights=True, sigma=1.5,
/// use_sample_covariance=False) of each image.
constexpr double kPsnr = (25.686334469184207 + 25.707435884939652) / 2;
constexpr double kSsim = (0.9555311219001054 + 0.9499451057898954) / 2;

MetricOfSamples quality(const std::string& type, const RestoredImages& of, const std::string& more = "") {
  return {type + ": {predictions: restored, targets: clean" + more + "}",
          {"restored", "clean"},
          {of.restored, of.clean}};
}

TEST(ImageQuality, is_that_of_scikit_image) {
  const RestoredImages all = restored_images();
  EXPECT_NEAR(quality("PSNR", all, ", data_range: 255").value(), kPsnr, 1e-12);
  EXPECT_NEAR(quality("SSIM", all, ", data_range: 255").value(), kSsim, 1e-12);
  for (const auto on : {MetricOfSamples::On::kReference, MetricOfSamples::On::kCpu}) {
    for (const size_t towers : {1U, 2U}) {
      EXPECT_NEAR(quality("PSNR", all, ", data_range: 255").value({1, 1}, towers, on), kPsnr, 1e-5);
      EXPECT_NEAR(quality("SSIM", all, ", data_range: 255").value({1, 1}, towers, on), kSsim, 2e-6);
    }
  }
}

/// Other units and a sign change nothing, as long as the range is in these units.
TEST(ImageQuality, does_not_depend_on_the_unit) {
  RestoredImages all = restored_images();
  for (const Tensor* x : {&all.restored, &all.clean})
    for (double& value : x->span<double>()) value = value / 127.5;
  EXPECT_NEAR(quality("PSNR", all, ", data_range: 2").value(), kPsnr, 1e-12);
  EXPECT_NEAR(quality("SSIM", all, ", data_range: 2").value(), kSsim, 1e-12);
}

TEST(ImageQuality, of_an_image_and_itself_is_the_best) {
  const RestoredImages same{restored_images().clean, restored_images().clean};
  for (const auto on : {MetricOfSamples::On::kReference, MetricOfSamples::On::kCpu}) {
    EXPECT_EQ(quality("PSNR", same, ", data_range: 255").value({2}, 1, on), INFINITY);
    EXPECT_NEAR(quality("SSIM", same, ", data_range: 255").value({2}, 1, on), 1, 1e-6);
  }
}

/// Of white images the variances are what is left of squares near 1.
TEST(ImageQuality, is_exact_in_single_precision_where_nothing_is_to_be_seen) {
  RestoredImages all = restored_images();
  for (const Tensor* x : {&all.restored, &all.clean})
    for (double& value : x->span<double>()) value = 1 - value * 1e-5;
  const double exact = quality("SSIM", all, ", data_range: 1").value();
  EXPECT_NEAR(quality("SSIM", all, ", data_range: 1").value({2}, 1, MetricOfSamples::On::kCpu), exact, 1e-7);
}

TEST(ImageQuality, knows_the_range_of_bytes) {
  RestoredImages all = restored_images();
  all.clean = all.clean.cast(DType::kUInt8);
  EXPECT_NEAR(quality("PSNR", all).value(), kPsnr, 1e-12);
  EXPECT_NEAR(quality("SSIM", all).value(), kSsim, 1e-12);
}

std::string quality_complaint(const std::string& item, const Shape& shape = {2, 3, 20, 17}) {
  const Tensor x = testkit::random_tensor(shape, 1);
  return complaint_of<Metric>(item, {"restored", "clean"}, {x, x});
}

TEST(ImageQuality, says_what_is_wrong) {
  using testing::HasSubstr;
  EXPECT_THAT(quality_complaint("PSNR: {predictions: restored, targets: clean}"),
              HasSubstr("metric PSNR: the range of 'clean' is not known; set 'data_range' to white minus "
                        "black: 1 for images from 0 to 1"));
  EXPECT_THAT(
      quality_complaint("SSIM: {predictions: restored, targets: clean, data_range: 1}", {2, 1, 10, 20}),
      HasSubstr("images of 10 x 20 pixels are smaller than the window of 11 x 11; use PSNR"));
  EXPECT_THAT(quality_complaint("SSIM: {predictions: restored, targets: clean, data_range: 1}", {2, 30}),
              HasSubstr("not images [N, channels, height, width]"));
  EXPECT_THAT(quality_complaint("PSNR: {predictions: restored, targets: clean, data_range: 1}", {30}),
              HasSubstr("not images [N, channels, height, width]"));
  EXPECT_EQ(quality_complaint("SSIM: {predictions: restored, targets: clean, data_range: 1}", {2, 11, 11}),
            "no error");
}

/// What a sigmoid gives is from 0 to 1, and what a tanh gives from -1 to 1.
TEST(ImageQuality, knows_the_range_of_activations) {
  const RestoredImages all = restored_images();
  for (const auto& [meaning, range] :
       {std::pair(kProbabilities, "1"), std::pair(OutputMeaning{-1, 1}, "2")}) {
    const auto sum = [&, meaning = meaning](const std::string& more, const Tensor& clean) {
      const std::shared_ptr<const Metric> made = Registry<Metric>::make_item(
          parse_yaml("PSNR: {predictions: restored, targets: clean" + more + "}", "cost.yaml"));
      return testkit::evaluate(
                 [&](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
                   const std::vector<Symbol> known = {b.declare(b.mul(in[0], 1.0), meaning), in[1]};
                   return {figure_of(*made, b, {"restored", "clean"}, known).sum};
                 },
                 {all.restored, clean}, DType::kFloat64)[0]
          .at(0);
    };
    EXPECT_EQ(sum("", all.clean), sum(std::string(", data_range: ") + range, all.clean));
    EXPECT_THROW(sum("", all.clean.cast(DType::kUInt8)), ConfigError) << "bytes are not from 0 to 1";
  }
}

}  // namespace
}  // namespace tpack
