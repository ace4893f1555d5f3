#include "image/augment/paste.h"

#include <string>
#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"
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

}  // namespace

std::unique_ptr<Transform> make_paste(const Extent& canvas, int x, int y, const Fill& fill) {
  return std::make_unique<Paste>(canvas.size(), x, y, fill);
}

std::unique_ptr<Transform> make_center_paste(ImageSize image, const Extent& canvas, const Fill& fill) {
  check_background_fits(image, canvas);
  return make_paste(canvas, (canvas.width - image.width) / 2, (canvas.height - image.height) / 2, fill);
}

void check_background_fits(ImageSize image, const Extent& background) {
  if (image.width <= background.width && image.height <= background.height) return;
  throw DataError("an image of " + image.str() + " is larger than the background of " +
                  background.size().str() +
                  "; make the background larger, or leave such images out with on_error: skip");
}

Shape shape_on_background(const Shape& in, const Extent& background, const Fill& fill) {
  fill.check(in);
  const Shape out{background.height, background.width, in[2]};
  for (const int axis : {0, 1}) {
    if (in[axis] == Shape::kUnknown || in[axis] <= out[axis]) continue;
    throw ConfigError("images " + in.str() + " do not fit on a background of " + out.str() +
                      "; make it larger, or put a Resize before it");
  }
  return out;
}

int64_t shorter_side_of_background(std::optional<int64_t> before, const Extent& background) {
  if (before && *before > background.shorter()) {
    throw ConfigError("images with a shorter side of " + std::to_string(*before) +
                      " do not fit on a background of " + background.size().str() +
                      "; make it larger, or put a Resize before it");
  }
  return background.shorter();
}

}  // namespace tpack
