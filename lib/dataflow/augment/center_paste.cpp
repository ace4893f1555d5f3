#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/augment/augmentor.h"
#include "dataflow/pixel_memory.h"

namespace tpack {
namespace {

class Paste final : public Transform {
 public:
  Paste(ImageSize canvas, int x, int y, int fill) : canvas_(canvas), x_(x), y_(y), fill_(fill) {}
  void image(cv::Mat& m) const override {
    cv::Mat out = pooled_mat(canvas_.height, canvas_.width, m.type());
    out.setTo(cv::Scalar::all(fill_ * pixel_unit(m)));
    paste(m, out);
  }
  void mask(cv::Mat& m) const override {
    cv::Mat out = pooled_mat(canvas_.height, canvas_.width, m.type());
    out.setTo(0);
    paste(m, out);
  }
  Point point(const Point& p, ImageSize /*in*/) const override { return {p.x + x_, p.y + y_}; }
  ImageSize size(ImageSize /*in*/) const override { return canvas_; }

 private:
  void paste(cv::Mat& m, cv::Mat& out) const {
    m.copyTo(out(cv::Rect(x_, y_, m.cols, m.rows)));
    m = out;
  }

  ImageSize canvas_;
  int x_;
  int y_;
  int fill_;
};

struct CenterPasteParams {
  Extent background_shape;
  int fill = 0;
};

/// Source: tensorpack imgaug/paste.py, CenterPaste with a constant background.
class CenterPaste final : public Augmentor {
 public:
  using Params = CenterPasteParams;
  static Schema<Params> schema() {
    return Schema<Params>("Puts an image into the middle of a larger one of a single color.")
        .example("CenterPaste: {background_shape: [480, 640], fill: 128}")
        .field("background_shape", &Params::background_shape,
               "output size: [height, width], or one number for a square")
        .required()
        .shorthand()
        .field("fill", &Params::fill, between(0, 255), "value of the background");
  }
  explicit CenterPaste(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& /*rng*/) const override {
    const ImageSize canvas = p_.background_shape.size();
    if (size.width > canvas.width || size.height > canvas.height) {
      throw DataError("an image of " + size.str() + " is larger than the background of " + canvas.str() +
                      "; make the background larger, or leave such images out with on_error: skip");
    }
    return std::make_unique<Paste>(canvas, (canvas.width - size.width) / 2, (canvas.height - size.height) / 2,
                                   p_.fill);
  }
  Shape shape(const Shape& in) const override {
    const Shape out{p_.background_shape.height, p_.background_shape.width, in[2]};
    for (const int axis : {0, 1}) {
      if (in[axis] == Shape::kUnknown || in[axis] <= out[axis]) continue;
      throw ConfigError("images " + in.str() + " do not fit on a background of " + out.str() +
                        "; make it larger, or put a Resize before it");
    }
    return out;
  }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const override {
    if (before && *before > p_.background_shape.shorter()) {
      throw ConfigError("images with a shorter side of " + std::to_string(*before) +
                        " do not fit on a background of " + p_.background_shape.size().str() +
                        "; make it larger, or put a Resize before it");
    }
    return p_.background_shape.shorter();
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, CenterPaste, "CenterPaste");

}  // namespace
}  // namespace tpack
