#include <opencv2/core.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

enum class Direction : uint8_t { kHorizontal, kVertical };

class Mirror final : public Transform {
 public:
  explicit Mirror(Direction direction) : direction_(direction) {}
  void image(cv::Mat& m) const override { cv::flip(m, m, direction_ == Direction::kHorizontal ? 1 : 0); }
  void mask(cv::Mat& m) const override { image(m); }
  Point point(const Point& p, ImageSize in) const override {
    return direction_ == Direction::kHorizontal ? Point{in.width - p.x, p.y} : Point{p.x, in.height - p.y};
  }
  bool takes_frames() const override { return true; }

 private:
  Direction direction_;
};

struct FlipParams {
  float prob = 0.5F;
  Direction direction = Direction::kHorizontal;
};

}  // namespace

template <>
struct EnumNames<Direction> {
  static constexpr std::array<std::pair<const char*, Direction>, 2> kNames = {
      {{"horizontal", Direction::kHorizontal}, {"vertical", Direction::kVertical}}};
};

namespace {

/// Source: tensorpack imgaug/misc.py, Flip (there `horiz=True` or `vert=True`).
class Flip final : public Augmentor {
 public:
  using Params = FlipParams;
  static Schema<Params> schema() {
    return Schema<Params>("Mirrors an image at random.")
        .example("Flip: {prob: 0.5, direction: vertical}")
        .field("prob", &Params::prob, between(0, 1), "probability that an image is mirrored")
        .field("direction", &Params::direction, "horizontal: left to right; vertical: upside down");
  }
  explicit Flip(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    if (rng.uniform() >= p_.prob) return nullptr;
    return std::make_unique<Mirror>(p_.direction);
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override {
    return p_.prob < 1 ? nullptr : std::make_unique<Mirror>(p_.direction);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Flip, "Flip");

}  // namespace
}  // namespace tpack
