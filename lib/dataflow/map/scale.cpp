#include <algorithm>
#include <type_traits>

#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

struct ScaleParams {
  double scale = 1;
  double offset = 0;
};

/// y = x * scale + offset. Shapes: x any -> y same, float32. Large integers are not rounded before they are
/// scaled.
class Scale final : public TensorMap {
 public:
  using Params = ScaleParams;
  static Schema<Params> schema() {
    return Schema<Params>("y = x * scale + offset, as float32.")
        .example("Scale: {scale: 0.00784313725490196, offset: -1}")
        .field("scale", &Params::scale, "factor")
        .field("offset", &Params::offset, "added after scaling");
  }
  explicit Scale(Params p) : p_(p) {}

  TensorSpec spec(const TensorSpec& in) const override { return {DType::kFloat32, in.shape}; }
  void apply(const Tensor& in, const Tensor& out) const override {
    visit(in.dtype(), [&](auto zero) {
      const auto values = in.span<decltype(zero)>();
      using Exact =
          std::conditional_t<(sizeof(zero) > 1 && !std::is_same_v<decltype(zero), float>), double, float>;
      const auto scale = static_cast<Exact>(p_.scale);
      const auto offset = static_cast<Exact>(p_.offset);
      std::transform(values.begin(), values.end(), out.data<float>(),
                     [=](auto x) { return static_cast<float>(static_cast<Exact>(x) * scale + offset); });
    });
  }

 private:
  Params p_;
};

TPACK_REGISTER(TensorMap, Scale, "Scale");

}  // namespace
}  // namespace tpack
