#include "tensor/cast.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/map/tensor_map.h"
#include "fields/tensor_fields.h"

namespace tpack {
namespace {

struct CastParams {
  DType dtype = DType::kFloat32;
};

/// False if the other type cannot represent the number: NaN and numbers out of range for integers, integers
/// that would be rounded for floats. Fractions are cut off, and floats are rounded to floats.
template <class To, class From>
bool has_number(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return !std::isnan(static_cast<double>(x));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    const double whole = std::trunc(static_cast<double>(x));
    return whole >= static_cast<double>(std::numeric_limits<To>::min()) &&
           whole < static_cast<double>(std::numeric_limits<To>::max()) + 1;
  } else if constexpr (std::is_integral_v<To> && !std::is_same_v<From, bool>) {
    return std::in_range<To>(x);
  } else if constexpr (std::is_floating_point_v<To> && std::is_integral_v<From>) {
    return std::is_same_v<From, bool> ||
           static_cast<long double>(static_cast<To>(x)) == static_cast<long double>(x);
  } else {
    return true;
  }
}

/// y = x in the other type. Shapes: x any -> y same.
class Cast final : public TensorMap {
 public:
  using Params = CastParams;
  static Schema<Params> schema() {
    return Schema<Params>("Converts elements to another type.")
        .example("Cast: int32")
        .field("dtype", &Params::dtype,
               "output type; fractions are cut off; a sample is bad if the type cannot represent one of its "
               "numbers, such as NaN for an integer, 300 for uint8, 16777217 for float32")
        .shorthand();
  }
  explicit Cast(Params p) : p_(p) {}

  TensorSpec spec(const TensorSpec& in) const override { return {p_.dtype, in.shape}; }
  void apply(const Tensor& in, const Tensor& out) const override {
    visit(in.dtype(), [&](auto from) {
      visit(p_.dtype, [&](auto to) {
        const auto values = in.span<decltype(from)>();
        std::transform(values.begin(), values.end(), out.data<decltype(to)>(), [this](auto x) {
          if (!has_number<decltype(to)>(x)) reject(static_cast<double>(x));
          return cast_element<decltype(to)>(x);
        });
      });
    });
  }

 private:
  [[noreturn]] void reject(double value) const {
    throw DataError("Cast: " + (std::isnan(value) ? "nan" : shortest(value)) + " is not a number of " +
                    name_of(p_.dtype) +
                    (is_float(p_.dtype) ? ", which rounds it; subtract an offset with Scale first"
                                        : "; remove or replace such values before it"));
  }

  Params p_;
};

TPACK_REGISTER(TensorMap, Cast, "Cast");

}  // namespace
}  // namespace tpack
