#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

enum class ColorMode : uint8_t { kGray, kBgr, kHsv, kYCrCb };

int opencv_code(ColorMode mode) {
  switch (mode) {
    case ColorMode::kGray:
      return cv::COLOR_RGB2GRAY;
    case ColorMode::kBgr:
      return cv::COLOR_RGB2BGR;
    case ColorMode::kHsv:
      return cv::COLOR_RGB2HSV;
    case ColorMode::kYCrCb:
      return cv::COLOR_RGB2YCrCb;
  }
  return cv::COLOR_RGB2GRAY;
}

class Convert final : public Transform {
 public:
  explicit Convert(ColorMode mode) : mode_(mode) {}
  void image(cv::Mat& m) const override {
    if (m.channels() == 1) return;
    if (m.channels() != 3) throw DataError("needs images of 3 channels, not " + std::to_string(m.channels()));
    if (mode_ == ColorMode::kHsv && m.depth() != CV_8U)
      throw DataError("hsv needs images of 8 bits per channel");
    cv::Mat out = pooled_mat();
    cv::cvtColor(m, out, opencv_code(mode_));
    m = out;
  }

 private:
  ColorMode mode_;
};

struct ColorSpaceParams {
  ColorMode mode = ColorMode::kGray;
};

}  // namespace

template <>
struct EnumNames<ColorMode> {
  static constexpr std::array<std::pair<const char*, ColorMode>, 4> kNames = {{{"gray", ColorMode::kGray},
                                                                               {"bgr", ColorMode::kBgr},
                                                                               {"hsv", ColorMode::kHsv},
                                                                               {"ycrcb", ColorMode::kYCrCb}}};
};

namespace {

/// Source: tensorpack imgaug/convert.py, ColorSpace and Grayscale; images are RGB here, not BGR.
class ColorSpace final : public Augmentor {
 public:
  using Params = ColorSpaceParams;
  static Schema<Params> schema() {
    return Schema<Params>("Converts an RGB image to another color space; does not change gray images.")
        .example("ColorSpace: hsv")
        .field("mode", &Params::mode, "output color space; gray has one channel; hues of hsv are 0..179")
        .shorthand();
  }
  explicit ColorSpace(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override {
    return std::make_unique<Convert>(p_.mode);
  }
  Shape shape(const Shape& in) const override { return p_.mode == ColorMode::kGray ? in.with(2, 1) : in; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, ColorSpace, "ColorSpace", "Grayscale");

}  // namespace
}  // namespace tpack
