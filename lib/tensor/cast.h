#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "tensor/half.h"

namespace tpack {

/// One element in another type, converted as in C++, except that floats outside of an integer type become its
/// nearest number, and NaN becomes 0.
template <class To, class From>
To cast_element(From x) {
  if constexpr (kIsHalf<From>) {
    return cast_element<To>(x.value());
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                       !std::is_same_v<To, bool>) {
    constexpr auto kMin = std::numeric_limits<To>::min();
    constexpr auto kMax = std::numeric_limits<To>::max();
    if (x >= static_cast<From>(kMax)) return kMax;
    if (x > static_cast<From>(kMin)) return static_cast<To>(x);
    return std::isnan(x) ? To{0} : kMin;
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace tpack
