#include "image/augment/augmentor.h"

#include <algorithm>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "image/augment/antialias.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

class Crop final : public Transform {
 public:
  explicit Crop(const Region& region) : r_(region) {}
  void image(cv::Mat& m) const override { m = m(cv::Rect(r_.x, r_.y, r_.width, r_.height)); }
  void mask(cv::Mat& m) const override { image(m); }
  Point point(const Point& p, ImageSize /*in*/) const override { return {p.x - r_.x, p.y - r_.y}; }
  ImageSize size(ImageSize /*in*/) const override { return {r_.width, r_.height}; }
  std::optional<Region> crop() const override { return r_; }
  bool takes_frames() const override { return true; }

 private:
  Region r_;
};

int opencv_code(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kNearest:
      return cv::INTER_NEAREST_EXACT;  // INTER_NEAREST moves pixels by up to half of one
    case Interpolation::kLinear:
      return cv::INTER_LINEAR;
    case Interpolation::kCubic:
      return cv::INTER_CUBIC;
    case Interpolation::kArea:
      return cv::INTER_AREA;
  }
  return cv::INTER_LINEAR;
}

/// Nearest pixels keep values such as class numbers of a mask, so they are never averaged.
class Resample final : public Transform {
 public:
  Resample(ImageSize to, Interpolation interpolation) : to_(to), interpolation_(interpolation) {}
  void mask(cv::Mat& m) const override { Resample(to_, Interpolation::kNearest).image(m); }
  Point point(const Point& p, ImageSize in) const override {
    return {p.x * to_.width / in.width, p.y * to_.height / in.height};
  }
  ImageSize size(ImageSize /*in*/) const override { return to_; }
  bool shrinks(ImageSize in) const override {
    // With area interpolation, reduced pixels have other edges.
    const bool is_smooth =
        interpolation_ == Interpolation::kLinear || interpolation_ == Interpolation::kCubic;
    return is_smooth && in.width > to_.width && in.height > to_.height;
  }
  Region needs(const Region& part, ImageSize in) const override {
    return pixels_of(part, in, to_, interpolation_);
  }
  void shrink(cv::Mat& m, const Box& from, const Region& part) const override {
    m = resize_smoothly(m, from, to_, part, interpolation_);
  }
  void image(cv::Mat& m) const override {
    if (m.cols == to_.width && m.rows == to_.height) return;
    if (averages() && (m.cols > to_.width || m.rows > to_.height)) {
      shrink(m, {0, 0, static_cast<double>(m.cols), static_cast<double>(m.rows)},
             {0, 0, to_.width, to_.height});
      return;
    }
    cv::Mat out = pooled_mat();
    cv::resize(m, out, {to_.width, to_.height}, 0, 0, opencv_code(interpolation_));
    m = out;
  }

 private:
  bool averages() const { return interpolation_ != Interpolation::kNearest; }

  ImageSize to_;
  Interpolation interpolation_;
};

class LinearColor final : public Transform {
 public:
  LinearColor(float scale, float offset) : scale_(scale), offset_(offset) {}
  void image(cv::Mat& m) const override {
    cv::Mat out = pooled_mat();
    m.convertTo(out, -1, scale_, offset_ * pixel_unit(m));
    m = out;
  }

 private:
  float scale_;
  float offset_;
};

class Sequence final : public Transform {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Transform>> parts) : parts_(std::move(parts)) {}
  void image(cv::Mat& m) const override {
    for (const auto& part : parts_) part->image(m);
  }
  void mask(cv::Mat& m) const override {
    for (const auto& part : parts_) part->mask(m);
  }
  Point point(const Point& p, ImageSize in) const override {
    Point out = p;
    for (const auto& part : parts_) {
      out = part->point(out, in);
      in = part->size(in);
    }
    return out;
  }
  ImageSize size(ImageSize in) const override {
    for (const auto& part : parts_) in = part->size(in);
    return in;
  }
  bool keeps_lines() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->keeps_lines(); });
  }
  std::span<const std::unique_ptr<Transform>> parts() const override { return parts_; }

 private:
  std::vector<std::unique_ptr<Transform>> parts_;
};

}  // namespace

Box Transform::box(const Box& b, ImageSize in) const {
  const ImageSize out = size(in);
  double left = out.width;
  double top = out.height;
  double right = 0;
  double bottom = 0;
  const auto reach = [&](double x, double y) {
    const Point p = point({b.x + x * b.width, b.y + y * b.height}, in);
    left = std::min(left, p.x);
    right = std::max(right, p.x);
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  };
  const int steps = keeps_lines() ? 1 : 16;  // from corner to corner
  for (int i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    for (const double side : {0.0, 1.0}) {
      reach(share, side);
      reach(side, share);
    }
  }
  left = std::max(left, 0.0);
  top = std::max(top, 0.0);
  right = std::min<double>(right, out.width);
  bottom = std::min<double>(bottom, out.height);
  return {left, top, std::max(0.0, right - left), std::max(0.0, bottom - top)};
}

std::optional<Extent> Codec<Extent>::parse(const ConfigNode& node, Reader& reader) {
  std::vector<ConfigNode> sides;
  if (node.is_list()) {
    sides.assign(node.items().begin(), node.items().end());
  } else {
    sides.assign(2, node);
  }
  const auto good = [](const ConfigNode& side) {
    return side.kind() == ConfigNode::Kind::kInt && side.as_int() >= 1 && side.as_int() <= kMaxImageSide;
  };
  if (sides.size() != 2 || !good(sides[0]) || !good(sides[1])) {
    reader.wrong_type(
        node, "a size from 1 to " + std::to_string(kMaxImageSide) + " pixels, as N or [height, width]");
    return std::nullopt;
  }
  return Extent{static_cast<int>(sides[0].as_int()), static_cast<int>(sides[1].as_int())};
}

ConfigNode Codec<Extent>::dump(const Extent& extent) {
  return ConfigNode::list({ConfigNode(extent.height), ConfigNode(extent.width)});
}

std::unique_ptr<Transform> make_crop(const Region& region) { return std::make_unique<Crop>(region); }

std::unique_ptr<Transform> make_resize(ImageSize to, Interpolation interpolation) {
  return std::make_unique<Resample>(to, interpolation);
}

double pixel_unit(const cv::Mat& m) { return m.depth() == CV_16U ? 257 : 1; }

std::unique_ptr<Transform> make_linear_color(float scale, float offset) {
  return std::make_unique<LinearColor>(scale, offset);
}

std::unique_ptr<Transform> make_sequence(std::vector<std::unique_ptr<Transform>> parts) {
  if (parts.empty()) return nullptr;
  if (parts.size() == 1) return std::move(parts[0]);
  return std::make_unique<Sequence>(std::move(parts));
}

void check_range(const std::string& augmentor, const std::string& field,
                 const std::pair<double, double>& range) {
  if (range.first <= range.second) return;
  throw ConfigError(augmentor + ": the first number of '" + field +
                    "' must not be larger than the second; swap them");
}

void check_crop_fits(ImageSize image, ImageSize crop) {
  if (image.width >= crop.width && image.height >= crop.height) return;
  throw DataError("an image of " + image.str() + " is smaller than the crop of " + crop.str() +
                  "; put ResizeShortestEdge: " + std::to_string(std::max(crop.width, crop.height)) +
                  " before it, or leave such images out with on_error: skip");
}

Shape shape_of_crop(const Shape& in, const Extent& crop) {
  const Shape out{crop.height, crop.width, in[2]};
  for (const int axis : {0, 1}) {
    if (in[axis] == Shape::kUnknown || in[axis] >= out[axis]) continue;
    throw ConfigError("a crop of " + out.str() + " does not fit images " + in.str() +
                      "; make it smaller, or put a Resize before it");
  }
  return out;
}

int64_t shorter_side_of_crop(std::optional<int64_t> before, const Extent& crop) {
  if (before && *before < crop.shorter()) {
    throw ConfigError("a crop of " + crop.size().str() + " does not fit images with a shorter side of " +
                      std::to_string(*before) +
                      "; make it smaller, or resize to a shorter side of at least " +
                      std::to_string(crop.shorter()) + " before it");
  }
  return crop.shorter();
}

}  // namespace tpack
