#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <opencv2/core/mat.hpp>

#include "core/field.h"
#include "core/rng.h"
#include "image/image.h"
#include "tensor/shape.h"

namespace tpack {

/// One draw of an augmentor, applied to an image and its annotations. Deterministic. Images have 1 to 4
/// channels (3: RGB) of 8 or 16 bits or float32; `image` gets the frames one after the other; `image` and
/// `mask` may work in place or make a new matrix (pooled_mat). A transform that moves pixels also overrides
/// `mask` and `point`; the tests of all augmentors compare the three. Threads: const methods may run at once.
class Transform {
 public:
  Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  virtual ~Transform() = default;

  virtual void image(cv::Mat& m) const = 0;
  /// The same for numbers instead of colors, such as classes of pixels, which must not be mixed. New pixels
  /// at the edges are 0.
  virtual void mask(cv::Mat& m) const { (void)m; }
  /// The new position of a point of an image of size `in`; may be outside of the result.
  virtual Point point(const Point& p, ImageSize in) const {
    (void)in;
    return p;
  }
  /// The rectangle around a transformed box, clipped to the result; with width or height 0 if nothing is
  /// left.
  Box box(const Box& b, ImageSize in) const;
  /// Whether lines stay lines, so that the corners of a box determine the result.
  virtual bool keeps_lines() const { return true; }

  /// Whether `image` takes all frames at once, as one image of more channels: to draw for each of them, or
  /// because it is faster.
  virtual bool takes_frames() const { return false; }

  /// Size of the resulting image.
  virtual ImageSize size(ImageSize in) const { return in; }
  /// The region that a plain crop keeps; nothing for other transforms. Decoders then decode only this region.
  virtual std::optional<Region> crop() const { return std::nullopt; }
  /// True if it averages the pixels of an image of this size to one that is smaller in both directions. A
  /// decoder may then return a reduced image, or only the pixels needed for the requested part of the result,
  /// and `shrink` is called instead of `image`.
  virtual bool shrinks(ImageSize in) const {
    (void)in;
    return false;
  }
  /// The pixels of an image of size `in` needed for a region of the result.
  virtual Region needs(const Region& part, ImageSize in) const {
    (void)part;
    return {0, 0, in.width, in.height};
  }
  /// A region of the result; `m` has the needed pixels, and the whole image would be its box `from`.
  virtual void shrink(cv::Mat& m, const Box& from, const Region& part) const {
    (void)m;
    (void)from;
    (void)part;
  }
  /// The transforms that this one runs one after the other, if it does nothing else.
  virtual std::span<const std::unique_ptr<Transform>> parts() const { return {}; }
};

/// Draws transforms from the size of an image alone, before it is decoded.
class Augmentor {
 public:
  static constexpr const char* kKind = "augmentor";

  Augmentor() = default;
  Augmentor(const Augmentor&) = delete;
  Augmentor& operator=(const Augmentor&) = delete;
  virtual ~Augmentor() = default;

  /// Null means "leave as is". Errors: DataError for an image that is too small.
  virtual std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const = 0;
  /// The transform without randomness, for predictions: the middle of the possible draws (a center crop, no
  /// change of colors). The default is for augmentors without random numbers.
  virtual std::unique_ptr<Transform> center(ImageSize size) const {
    Rng rng(0, 0);
    return draw(size, rng);
  }
  /// Shape [height, width, channels] of the result; Shape::kUnknown for sizes that vary.
  virtual Shape shape(const Shape& in) const { return in; }
  /// The shorter side of the result, if it is known although height and width may not be; `before` is the
  /// shorter side of the input. Errors: ConfigError if `draw` rejects every image with that shorter side.
  virtual std::optional<int64_t> shorter_side(std::optional<int64_t> before) const { return before; }
};

/// One that changes nothing where nothing may be random.
class RandomAugmentor : public Augmentor {
 public:
  std::unique_ptr<Transform> center(ImageSize /*size*/) const final { return nullptr; }
};

/// Height and width of an image; a config writes [height, width], or one number for a square.
struct Extent {
  int height = 0;
  int width = 0;

  ImageSize size() const { return {width, height}; }
  int shorter() const { return height < width ? height : width; }
};
template <>
struct Codec<Extent> {
  static FieldType type() {
    return FieldType::either({FieldType::integer(), FieldType::list_of(FieldType::integer())},
                             "an integer or [height, width]");
  }
  static std::optional<Extent> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Extent& extent);
};

// Transforms that several augmentors use.
std::unique_ptr<Transform> make_crop(const Region& region);
enum class Interpolation : uint8_t { kNearest, kLinear, kCubic, kArea };
template <>
struct EnumNames<Interpolation> {
  static constexpr std::array<std::pair<const char*, Interpolation>, 4> kNames = {
      {{"nearest", Interpolation::kNearest},
       {"linear", Interpolation::kLinear},
       {"cubic", Interpolation::kCubic},
       {"area", Interpolation::kArea}}};
};
inline constexpr const char* kInterpolationText =
    "interpolation of pixels; linear, cubic and area average all pixels when an image shrinks "
    "(antialiasing); nearest keeps pixel values, for masks";
std::unique_ptr<Transform> make_resize(ImageSize to, Interpolation interpolation);
/// The factor for a number of a config, which is for pixels of 0..255, with these pixels; floats count as
/// 0..255.
double pixel_unit(const cv::Mat& m);
/// Calls f with a 0 of the type of the pixels.
template <class F>
void by_depth(const cv::Mat& m, const F& f) {
  if (m.depth() == CV_8U) return f(uint8_t{});
  if (m.depth() == CV_16U) return f(uint16_t{});
  f(float{});
}
/// y = scale * x + offset for pixels of 0..255, rounded and clamped.
std::unique_ptr<Transform> make_linear_color(float scale, float offset);

/// Runs transforms one after the other; null for none.
std::unique_ptr<Transform> make_sequence(std::vector<std::unique_ptr<Transform>> parts);
/// A random order.
template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[rng.below(static_cast<uint32_t>(left))]);
}

/// Errors: ConfigError if the first number of a range is larger than the second.
void check_range(const std::string& augmentor, const std::string& field,
                 const std::pair<double, double>& range);
/// Rejects images that are smaller than a crop. Errors: DataError with the fix.
void check_crop_fits(ImageSize image, ImageSize crop);
/// The shape of a crop from images [height, width, channels]. Errors: ConfigError if they are known to be
/// smaller.
Shape shape_of_crop(const Shape& in, const Extent& crop);
/// The shorter side of a crop from images with shorter side `before`. Errors: ConfigError if the crop cannot
/// fit.
int64_t shorter_side_of_crop(std::optional<int64_t> before, const Extent& crop);

}  // namespace tpack
