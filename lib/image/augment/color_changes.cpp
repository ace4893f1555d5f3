// Augmentors that change colors by at most one number, a row each.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

using Change = std::unique_ptr<Transform>;

/// For a number x: a random one in [-x, x).
struct SpreadRow {
  const char* summary;
  const char* example;
  const char* field;
  float spread;  // by default; none if the field is required
  bool is_required;
  double most;
  const char* doc;
  Change (*of)(float x);
};

template <const SpreadRow& kRow>
class ChangeOfSpread final : public RandomAugmentor {
 public:
  struct Params {
    float spread = kRow.spread;
  };
  static Schema<Params> schema() {
    Schema<Params> schema(kRow.summary);
    schema.example(kRow.example).field(kRow.field, &Params::spread, between(0, kRow.most), kRow.doc);
    return (kRow.is_required ? schema.required() : schema).shorthand();
  }
  explicit ChangeOfSpread(Params p) : spread_(p.spread) {}
  Change draw(ImageSize /*size*/, Rng& rng) const override { return kRow.of(rng.uniform(-spread_, spread_)); }

 private:
  float spread_;
};

/// For a random number in a range.
struct RangeRow {
  const char* name;
  const char* summary;
  const char* example;
  const char* field;
  std::pair<float, float> range;  // by default; none if the field is required
  bool is_required;
  Check allowed;
  const char* doc;
  Change (*of)(float x);
};

template <const RangeRow& kRow>
class ChangeOfRange final : public RandomAugmentor {
 public:
  struct Params {
    std::pair<float, float> range = kRow.range;
  };
  static Schema<Params> schema() {
    Schema<Params> schema(kRow.summary);
    schema.example(kRow.example).field(kRow.field, &Params::range, kRow.allowed, kRow.doc);
    return (kRow.is_required ? schema.required() : schema).shorthand();
  }
  explicit ChangeOfRange(Params p) : range_(std::move(p.range)) {
    check_range(kRow.name, kRow.field, range_);
  }
  Change draw(ImageSize /*size*/, Rng& rng) const override {
    return kRow.of(rng.uniform(range_.first, range_.second));
  }

 private:
  std::pair<float, float> range_;
};

/// Always the same.
struct PlainRow {
  const char* summary;
  Change (*make)();
};

template <const PlainRow& kRow>
class PlainChange final : public Augmentor {
 public:
  struct Params {};
  static Schema<Params> schema() { return Schema<Params>(kRow.summary); }
  explicit PlainChange(Params /*p*/) {}
  Change draw(ImageSize /*size*/, Rng& /*rng*/) const override { return kRow.make(); }
};

const SpreadRow kBrightnessRow{.summary = "Adds one random number to all pixels.",
                               .example = "Brightness: 30",
                               .field = "delta",
                               .spread = 0,
                               .is_required = true,
                               .most = 255,
                               .doc = "the number is in [-delta, delta); pixels are 0..255",
                               .of = [](float x) { return make_linear_color(1, x); }};
/// Source: tensorpack imgaug/imgproc.py, Brightness.
using Brightness = ChangeOfSpread<kBrightnessRow>;
TPACK_REGISTER(Augmentor, Brightness, "Brightness");

const SpreadRow kHueRow{
    .summary = "Rotates the hues of RGB images by a random angle; does not change gray images.",
    .example = "Hue: 18",
    .field = "delta",
    .spread = 180,
    .is_required = false,
    .most = 180,
    .doc = "degrees; the angle is in [-delta, delta), and 180 gives any hue",
    .of = make_hue_shift};
/// Source: tensorpack imgaug/imgproc.py, Hue (there in the units of OpenCV, 2 degrees for 8 bits).
using Hue = ChangeOfSpread<kHueRow>;
TPACK_REGISTER(Augmentor, Hue, "Hue");

const SpreadRow kSaturationRow{
    .summary =
        "Makes colors of RGB images stronger or weaker by a random factor; does not change gray images.",
    .example = "Saturation: 0.3",
    .field = "alpha",
    .spread = 0.4F,
    .is_required = false,
    .most = 1,
    .doc = "the factor is in [1 - alpha, 1 + alpha); 0 is gray",
    .of = [](float x) { return make_saturation(1 + x); }};
/// Source: tensorpack imgaug/imgproc.py, Saturation.
using Saturation = ChangeOfSpread<kSaturationRow>;
TPACK_REGISTER(Augmentor, Saturation, "Saturation");

const RangeRow kBrightnessScaleRow{.name = "BrightnessScale",
                                   .summary = "Multiplies all pixels by one random factor.",
                                   .example = "BrightnessScale: [0.6, 1.4]",
                                   .field = "factor_range",
                                   .range = {1, 1},
                                   .is_required = true,
                                   .allowed = at_least(0),
                                   .doc = "the factor is in [low, high)",
                                   .of = [](float x) { return make_linear_color(x, 0); }};
/// Source: tensorpack imgaug/imgproc.py, BrightnessScale.
using BrightnessScale = ChangeOfRange<kBrightnessScaleRow>;
TPACK_REGISTER(Augmentor, BrightnessScale, "BrightnessScale");

const RangeRow kSharpnessRow{
    .name = "Sharpness",
    .summary = "Blurs or sharpens an image by a random factor: 0 blurs, 1 changes nothing, 2 sharpens.",
    .example = "Sharpness: [0.5, 1.8]",
    .field = "factor_range",
    .range = {1, 1},
    .is_required = true,
    .allowed = at_least(0),
    .doc = "the factor is in [low, high)",
    .of = make_sharpness};
/// Source: Pillow's ImageEnhance.Sharpness. Edges of the image are not changed.
using Sharpness = ChangeOfRange<kSharpnessRow>;
TPACK_REGISTER(Augmentor, Sharpness, "Sharpness");

const RangeRow kGammaRow{
    .name = "Gamma",
    .summary =
        "Makes dark pixels brighter or darker: pixels of 0..1 get the exponent 1 / (1 + g), with a random g.",
    .example = "Gamma: [-0.3, 0.3]",
    .field = "range",
    .range = {-0.5F, 0.5F},
    .is_required = false,
    .allowed = between(-0.99, 100),
    .doc = "g is in [low, high); above 0 is brighter",
    .of = [](float g) {
      const double exponent = 1 / (1.0 + g);
      return make_value_map(
          [exponent](double x) { return 255 * std::pow(std::clamp(x / 255, 0.0, 1.0), exponent); });
    }};
/// Source: tensorpack imgaug/imgproc.py, Gamma.
using Gamma = ChangeOfRange<kGammaRow>;
TPACK_REGISTER(Augmentor, Gamma, "Gamma");

constexpr PlainRow kAutoContrastRow{"Stretches each channel so that its values reach from 0 to 255.",
                                    make_auto_contrast};
/// Source: Pillow's ImageOps.autocontrast.
using AutoContrast = PlainChange<kAutoContrastRow>;
TPACK_REGISTER(Augmentor, AutoContrast, "AutoContrast");

constexpr PlainRow kEqualizeRow{"Equalizes the histogram of each channel.", make_equalize};
/// Source: Pillow's ImageOps.equalize.
using Equalize = PlainChange<kEqualizeRow>;
TPACK_REGISTER(Augmentor, Equalize, "Equalize");

constexpr PlainRow kInvertRow{"Replaces each value x by 255 - x.", make_invert};
/// Source: Pillow's ImageOps.invert.
using Invert = PlainChange<kInvertRow>;
TPACK_REGISTER(Augmentor, Invert, "Invert");

}  // namespace
}  // namespace tpack
