#include "tensor/finite.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tpack {
namespace {

template <class T>
void find_every_bad_element() {
  constexpr int64_t kElements = 37;
  for (const double bad : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (int64_t i = 0; i < kElements; ++i) {
      Tensor t = Tensor::zeros({dtype_of<T>(), {kElements}});
      for (int64_t k = 0; k < kElements; ++k)
        t.data<T>()[k] = (k % 2 == 0 ? 1 : -1) * std::numeric_limits<T>::max();
      EXPECT_TRUE(all_finite(t));
      EXPECT_EQ(first_not_finite(t), std::nullopt);
      t.data<T>()[i] = static_cast<T>(bad);
      EXPECT_FALSE(all_finite(t));
      EXPECT_EQ(first_not_finite(t), i);
    }
  }
}

TEST(Finite, finds_every_bad_float) { find_every_bad_element<float>(); }
TEST(Finite, finds_every_bad_double) { find_every_bad_element<double>(); }
TEST(Finite, takes_integers_as_finite) { EXPECT_TRUE(all_finite(Tensor::of<int32_t>({2}, {1, INT32_MAX}))); }
TEST(Finite, names_the_place_of_an_element) {
  EXPECT_EQ(place_of(7, {2, 2, 3}), "[1, 0, 1]");
  EXPECT_EQ(place_of(0, {}), "[]");
}

}  // namespace
}  // namespace tpack
