#include <optional>
#include <string>
#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/fill.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

class Paste final : public Transform {
 public:
  Paste(ImageSize canvas, int x, int y, Fill fill) : canvas_(canvas), x_(x), y_(y), fill_(std::move(fill)) {}
  void image(cv::Mat& m) const override { paste(m, fill_.scalar(m)); }
  void mask(cv::Mat& m) const override { paste(m, cv::Scalar()); }
  Point point(const Point& p, ImageSize /*in*/) const override { return {p.x + x_, p.y + y_}; }
  ImageSize size(ImageSize /*in*/) const override { return canvas_; }

 private:
  void paste(cv::Mat& m, const cv::Scalar& color) const {
    cv::Mat out = pooled_mat(canvas_.height, canvas_.width, m.type());
    out.setTo(color);
    m.copyTo(out(cv::Rect(x_, y_, m.cols, m.rows)));
    m = out;
  }

  ImageSize canvas_;
  int x_;
  int y_;
  Fill fill_;
};

struct PasteParams {
  Extent background_shape;
  Fill fill;
};

/// Puts an image onto a larger one of a single color.
class PasteAugmentor : public Augmentor {
 public:
  using Params = PasteParams;
  explicit PasteAugmentor(Params p) : p_(std::move(p)) {}

  /// In its middle.
  std::unique_ptr<Transform> center(ImageSize size) const final {
    const ImageSize room = room_of(size);
    return std::make_unique<Paste>(p_.background_shape.size(), room.width / 2, room.height / 2, p_.fill);
  }
  /// Errors: ConfigError if the images are known to be larger, or if the color has a different number of
  /// channels.
  Shape shape(const Shape& in) const final {
    const Extent& background = p_.background_shape;
    p_.fill.check(in);
    const Shape out{background.height, background.width, in[2]};
    for (const int axis : {0, 1}) {
      if (in[axis] == Shape::kUnknown || in[axis] <= out[axis]) continue;
      throw ConfigError("images " + in.str() + " do not fit on a background of " + out.str() +
                        "; make it larger, or put a Resize before it");
    }
    return out;
  }
  /// Errors: ConfigError if no image with this shorter side fits.
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const final {
    const Extent& background = p_.background_shape;
    if (before && *before > background.shorter()) {
      throw ConfigError("images with a shorter side of " + std::to_string(*before) +
                        " do not fit on a background of " + background.size().str() +
                        "; make it larger, or put a Resize before it");
    }
    return background.shorter();
  }

 protected:
  static Schema<Params> schema_of(const char* summary, const char* example) {
    return Schema<Params>(summary)
        .example(example)
        .field("background_shape", &Params::background_shape,
               "output size: [height, width], or one number for a square")
        .required()
        .shorthand()
        .field("fill", &Params::fill, between(0, 255),
               "color of the background, as one number for all channels or one per channel");
  }
  /// How much larger the background is. Errors: DataError with the fix if it is not.
  ImageSize room_of(ImageSize image) const {
    const ImageSize background = p_.background_shape.size();
    if (image.width > background.width || image.height > background.height)
      throw DataError("an image of " + image.str() + " is larger than the background of " + background.str() +
                      "; make the background larger, or leave such images out with on_error: skip");
    return {background.width - image.width, background.height - image.height};
  }

  Params p_;
};

/// Source: tensorpack imgaug/paste.py, CenterPaste with a constant background.
class CenterPaste final : public PasteAugmentor {
 public:
  using PasteAugmentor::PasteAugmentor;
  static Schema<Params> schema() {
    return schema_of("Puts an image into the middle of a larger one of a single color.",
                     "CenterPaste: {background_shape: [480, 640], fill: 128}");
  }
  std::unique_ptr<Transform> draw(ImageSize size, Rng& /*rng*/) const override { return center(size); }
};

/// Source: tensorpack imgaug/paste.py, RandomPaste with a constant background.
class RandomPaste final : public PasteAugmentor {
 public:
  using PasteAugmentor::PasteAugmentor;
  static Schema<Params> schema() {
    return schema_of(
        "Puts an image at a random position in a larger one of a single color; in predictions, into the "
        "middle.",
        "RandomPaste: {background_shape: [480, 640], fill: 128}");
  }
  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const ImageSize room = room_of(size);
    const int x = rng.range(0, room.width);
    const int y = rng.range(0, room.height);
    return std::make_unique<Paste>(p_.background_shape.size(), x, y, p_.fill);
  }
};

TPACK_REGISTER(Augmentor, CenterPaste, "CenterPaste");
TPACK_REGISTER(Augmentor, RandomPaste, "RandomPaste");

}  // namespace
}  // namespace tpack
