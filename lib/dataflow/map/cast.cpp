#include "tensor/cast.h"

#include <algorithm>

#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

struct CastParams {
  DType dtype = DType::kFloat32;
};

/// y = x as the other type. Shapes: x any -> y same.
class Cast final : public TensorMap {
 public:
  using Params = CastParams;
  static Schema<Params> schema() {
    return Schema<Params>("Converts elements to another type.")
        .example("Cast: int32")
        .field("dtype", &Params::dtype,
               "output type; fractions are cut off; values out of the range of an integer type become its "
               "nearest number, NaN becomes 0")
        .shorthand();
  }
  explicit Cast(Params p) : p_(p) {}

  TensorSpec spec(const TensorSpec& in) const override { return {p_.dtype, in.shape}; }
  void apply(const Tensor& in, const Tensor& out) const override {
    visit(in.dtype(), [&](auto from) {
      visit(p_.dtype, [&](auto to) {
        const auto values = in.span<decltype(from)>();
        std::transform(values.begin(), values.end(), out.data<decltype(to)>(),
                       [](auto x) { return cast_element<decltype(to)>(x); });
      });
    });
  }

 private:
  Params p_;
};

TPACK_REGISTER(TensorMap, Cast, "Cast");

}  // namespace
}  // namespace tpack
