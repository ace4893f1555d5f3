#include <limits>

#include <gtest/gtest.h>

#include "backend/device.h"
#include "graph/builder.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

constexpr int64_t kLarge = (int64_t{1} << 40) + 1;  // no float is that
constexpr int32_t kOdd = (1 << 24) + 1;             // neither

/// What the function gives on both backends, which must agree.
std::vector<Tensor> computed(const testkit::Function& function, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> found = testkit::evaluate_on_cpu(function, inputs, {});
  const std::vector<Tensor> expected = testkit::evaluate(function, inputs, DType::kFloat64);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(is_float(found[i].dtype()) || bit_equal(found[i], expected[i])) << i;
  return found;
}

TEST(Integers, stay_integers) {
  const auto all = computed(
      [](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.add(in[0], 1.0), b.mul(in[1], 3.0), b.max(in[0], in[1]), b.div(in[1], 2.0)};
      },
      {Tensor::of<int64_t>({2}, {kLarge, -5}), Tensor::of<int32_t>({2}, {kOdd, 7})});
  EXPECT_TRUE(bit_equal(all[0], Tensor::of<int64_t>({2}, {kLarge + 1, -4})));
  EXPECT_TRUE(bit_equal(all[1], Tensor::of<int32_t>({2}, {3 * kOdd, 21})));
  EXPECT_TRUE(bit_equal(all[2], Tensor::of<int64_t>({2}, {kLarge, 7})));
  EXPECT_TRUE(bit_equal(all[3], Tensor::of<float>({2}, {static_cast<float>(kOdd) / 2, 3.5F})));
}

TEST(Integers, are_compared_exactly) {
  const auto all = computed(
      [](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.equal(in[0], in[1]), b.greater(in[0], static_cast<double>(kOdd - 1))};
      },
      {Tensor::of<int32_t>({2}, {kOdd, 3}), Tensor::of<int32_t>({2}, {kOdd - 1, 3})});
  EXPECT_TRUE(bit_equal(all[0], Tensor::of<bool>({2}, {false, true})));
  EXPECT_TRUE(bit_equal(all[1], Tensor::of<bool>({2}, {true, false})));
}

TEST(Integers, are_cast_to_the_nearest_number_that_there_is) {
  const auto all = computed(
      [](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.cast(in[0], DType::kInt32), b.cast(in[1], DType::kInt64),
                           b.cast(in[0], DType::kFloat32), b.cast(in[2], DType::kInt64)};
      },
      {Tensor::of<int64_t>({3}, {kOdd, kLarge, -kLarge}), Tensor::of<int32_t>({1}, {kOdd}),
       Tensor::of<float>({2}, {2.9F, -2.9F})});
  EXPECT_TRUE(bit_equal(all[0], Tensor::of<int32_t>({3}, {kOdd, std::numeric_limits<int32_t>::max(),
                                                          std::numeric_limits<int32_t>::min()})));
  EXPECT_TRUE(bit_equal(all[1], Tensor::of<int64_t>({1}, {kOdd})));
  EXPECT_TRUE(bit_equal(all[2], Tensor::of<float>({3}, {static_cast<float>(kOdd), static_cast<float>(kLarge),
                                                        static_cast<float>(-kLarge)})));
  EXPECT_TRUE(bit_equal(all[3], Tensor::of<int64_t>({2}, {2, -2})));
}

TEST(Integers, broadcast) {
  const auto all =
      computed([](Builder& b, std::span<const Symbol> in) { return std::vector{b.add(in[0], in[1])}; },
               {Tensor::of<int64_t>({2, 1}, {kLarge, 2}), Tensor::of<int32_t>({3}, {1, 2, 3})});
  EXPECT_TRUE(bit_equal(all[0], Tensor::of<int64_t>({2, 3}, {kLarge + 1, kLarge + 2, kLarge + 3, 3, 4, 5})));
}

TEST(Integers, of_64_bits_go_through_ops_that_move_them) {
  const auto all = computed(
      [](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.reshape(in[0], {2, 1, 1, 2}), b.transpose(in[0], {1, 0}),
                           b.stop_gradient(in[0])};
      },
      {Tensor::of<int64_t>({2, 2}, {kLarge, 2, 3, 4})});
  EXPECT_TRUE(bit_equal(all[0], Tensor::of<int64_t>({2, 1, 1, 2}, {kLarge, 2, 3, 4})));
  EXPECT_TRUE(bit_equal(all[1], Tensor::of<int64_t>({2, 2}, {kLarge, 3, 2, 4})));
  EXPECT_TRUE(bit_equal(all[2], Tensor::of<int64_t>({2, 2}, {kLarge, 2, 3, 4})));
}

}  // namespace
}  // namespace tpack
