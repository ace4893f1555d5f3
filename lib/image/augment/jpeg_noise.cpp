#include <utility>
#include <vector>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/format/image_codec.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

/// The change by the JPEG, in 8 bits, is added to the pixels, which may have more bits.
class JpegRoundTrip final : public Transform {
 public:
  explicit JpegRoundTrip(int quality) : quality_(quality) {}
  void image(cv::Mat& m) const override {
    const int colors = m.channels() < 3 ? 1 : 3;
    std::vector<int> same;
    for (int c = 0; c < colors; ++c) same.insert(same.end(), {c, c});
    cv::Mat plain = pooled_mat(m.rows, m.cols, CV_MAKETYPE(m.depth(), colors));
    cv::mixChannels(m, plain, same);
    cv::Mat in = pooled_mat();
    plain.convertTo(in, CV_8U, 1 / pixel_unit(m));
    const std::vector<uint8_t> bytes = write_jpeg(in, quality_);
    cv::Mat out = pooled_mat();
    decode_image(bytes, {.region = {0, 0, m.cols, m.rows}}, colors, out);
    if (m.depth() != CV_8U) {
      cv::Mat change = pooled_mat();
      cv::subtract(out, in, change, cv::noArray(), CV_32F);
      cv::scaleAdd(change, pixel_unit(m), as_float(plain), change);
      change.convertTo(out, m.depth());
    }
    cv::Mat result = pooled_mat(m.rows, m.cols, m.type());
    m.copyTo(result);
    cv::mixChannels(out, result, same);
    m = result;
  }

 private:
  static cv::Mat as_float(const cv::Mat& m) {
    cv::Mat out = pooled_mat();
    m.convertTo(out, CV_32F);
    return out;
  }

  int quality_;
};

struct JpegNoiseParams {
  std::pair<int, int> quality_range = {40, 100};
};

/// Source: tensorpack imgaug/noise.py, JpegNoise.
class JpegNoise final : public RandomAugmentor {
 public:
  using Params = JpegNoiseParams;
  static Schema<Params> schema() {
    return Schema<Params>("Adds the compression errors of a JPEG file of random quality.")
        .example("JpegNoise: [20, 80]")
        .field("quality_range", &Params::quality_range, between(1, 100), "the quality is in [low, high)")
        .shorthand();
  }
  explicit JpegNoise(Params p) : p_(std::move(p)) {
    if (p_.quality_range.first >= p_.quality_range.second)
      throw ConfigError("JpegNoise: 'quality_range' is [low, high) with low < high");
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return std::make_unique<JpegRoundTrip>(rng.range(p_.quality_range.first, p_.quality_range.second - 1));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, JpegNoise, "JpegNoise");

}  // namespace
}  // namespace tpack
