#include <cmath>
#include <string>

#include "core/text.h"
#include "model/layer.h"
#include "model/number_list.h"
#include "ops/batch_norm.h"

namespace tpack {
namespace {

struct NormalizeParams {
  NumberList scale = {{1.0 / 255}};
  NumberList offset = {{0}};
  NumberList mean = {};
  NumberList deviation = {};
};

/// Shapes: x any -> y same, in the float type; converts images of bytes for a network. A list has a number
/// for each channel: axis 1, which is the last axis of vectors.
class Normalize final : public Layer {
 public:
  using Params = NormalizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "y = x * scale + offset, or (x - mean) / deviation; each is one number, or a list with one "
               "number per channel of images or column of vectors.")
        .example("Normalize: {scale: 0.00784313725490196, offset: -1}")
        .field("scale", &Params::scale, "factor")
        .field("offset", &Params::offset, "added after scaling")
        .field("mean", &Params::mean,
               "replaces scale and offset, in the units of x; the mean of ImageNet, for images of bytes, is "
               "[123.675, 116.28, 103.53]")
        .field("deviation", &Params::deviation,
               "standard deviation; for ImageNet, [58.395, 57.12, 57.375]; default: 1");
  }
  explicit Normalize(Params p) : p_(std::move(p)) {
    const bool has_mean = !p_.mean.empty() || !p_.deviation.empty();
    const NormalizeParams plain;
    if (has_mean && (p_.scale.values != plain.scale.values || p_.offset.values != plain.offset.values))
      throw ConfigError(
          "Normalize: 'mean' and 'deviation' replace 'scale' and 'offset'; remove 'scale' and 'offset'");
    for (const double deviation : p_.deviation.values)
      if (!(deviation > 0) || std::isinf(deviation))
        throw ConfigError("Normalize: 'deviation' is " + shortest(deviation) + "; must be above 0");
    if (!has_mean) return;
    // (x - mean) / deviation = x * (1 / deviation) - mean / deviation
    const NumberList mean = p_.mean.empty() ? NumberList{{0}} : p_.mean;
    const NumberList deviation = p_.deviation.empty() ? NumberList{{1}} : p_.deviation;
    const size_t count = std::max(mean.values.size(), deviation.values.size());
    const auto at = [](const NumberList& list, size_t i) {
      return list.values[list.values.size() == 1 ? 0 : i];
    };
    for (const NumberList* list : {&mean, &deviation})
      if (list->values.size() != 1 && list->values.size() != count)
        throw ConfigError("Normalize: 'mean' and 'deviation' have lists of different lengths");
    p_.scale.values.clear();
    p_.offset.values.clear();
    for (size_t i = 0; i < count; ++i) {
      p_.scale.values.push_back(1 / at(deviation, i));
      p_.offset.values.push_back(-at(mean, i) / at(deviation, i));
    }
  }

  Symbol build(Builder& b, Symbol x) const override {
    const Symbol y = b.to_float(x);
    return b.add(b.mul(y, operand(b, p_.scale, "scale", y.shape())),
                 operand(b, p_.offset, "offset", y.shape()));
  }

 private:
  /// Errors: ShapeError if a list does not have one number per channel.
  static Builder::Operand operand(Builder& b, const NumberList& list, const char* name, const Shape& x) {
    const auto count = std::ssize(list.values);
    if (count == 1) return list.values[0];
    const int64_t channels = x.rank() < 2 ? 0 : x[1];
    if (channels != count)
      throw ShapeError(std::string("Normalize has ") + std::to_string(count) + " numbers of '" + name +
                       "', but x " + x.str() + " has " + std::to_string(channels) + " channels (axis 1)");
    return per_channel(b, b.constant(Tensor::of<double>({count}, list.values).cast(b.float_type())), x);
  }

  Params p_;
};

TPACK_REGISTER(Layer, Normalize, "Normalize");

}  // namespace
}  // namespace tpack
