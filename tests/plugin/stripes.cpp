#include "core/registry.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

struct StripesParams {
  int64_t size = 1000;
  int64_t side = 8;
};

/// Upright stripes are class 0, lying ones class 1.
class Stripes final : public RandomAccessSource {
 public:
  using Params = StripesParams;
  static Schema<Params> schema() {
    return Schema<Params>("Gray pictures of stripes with noise.")
        .field("size", &Params::size, at_least(1), "images per pass")
        .field("side", &Params::side, between(4, 64), "side of an image, pixels");
  }
  explicit Stripes(Params p) : p_(p) {}

  Spec spec() const override {
    return {{"image", image_spec(), true}, {"label", {DType::kInt32, {}}, false, {"upright", "lying"}}};
  }
  int64_t size() const override { return p_.size; }
  void get(int64_t /*index*/, const SampleKey& key, Datapoint& out) const override {
    Rng rng = key.rng();
    const auto lying = static_cast<int32_t>(rng.below(2));
    const auto phase = static_cast<int64_t>(rng.below(4));
    uint8_t* pixel = out.renew(0, image_spec()).data<uint8_t>();
    for (int64_t y = 0; y < p_.side; ++y) {
      for (int64_t x = 0; x < p_.side; ++x) {
        const bool bright = ((lying != 0 ? y : x) + phase) % 4 < 2;
        *pixel++ = static_cast<uint8_t>((bright ? 160U : 40U) + rng.below(60));
      }
    }
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = lying;
  }

 private:
  TensorSpec image_spec() const { return {DType::kUInt8, {p_.side, p_.side, 1}}; }

  Params p_;
};

TPACK_REGISTER(Source, Stripes, "Stripes");

}  // namespace
}  // namespace tpack
