#include "tensor/tensor.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/text.h"
#include "system/machine.h"

namespace tpack {
namespace {

TEST(Shape, counts_elements_and_prints) {
  const Shape shape{128, 1, 28, 28};
  EXPECT_EQ(shape.elements(), 100352);
  EXPECT_EQ(shape.str(), "[128, 1, 28, 28]");
  EXPECT_EQ(shape[-1], 28);
  EXPECT_EQ(shape.drop_front(), (Shape{1, 28, 28}));
  EXPECT_EQ((Shape{Shape::kUnknown, 3}).str(), "[?, 3]");
  EXPECT_EQ(Shape{}.elements(), 1);
}

TEST(Shape, rejects_products_that_overflow) {
  EXPECT_THROW((Shape{1 << 20, 1 << 20}).elements(), ConfigError);
  EXPECT_THROW((Shape{Shape::kUnknown}).elements(), ConfigError);
}

TEST(Tensor, copies_share_and_clones_do_not) {
  Tensor a = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  Tensor shared = a;
  Tensor copy = a.clone();
  a.data<float>()[3] = 9;
  EXPECT_EQ(shared.at(3), 9);
  EXPECT_EQ(copy.at(3), 4);
  EXPECT_EQ(a.row(1).at(0), 3);
  EXPECT_EQ(a.row(1).shape(), Shape{2});
}

TEST(Tensor, casts_what_an_integer_does_not_hold_to_its_nearest_number) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = Tensor::of<double>({6}, {-1.5, 2.9, 300, 1e30, -infinity, std::nan("")});
  const auto as = [&x](DType type) {
    std::vector<double> values;
    for (int64_t i = 0; i < 6; ++i) values.push_back(x.cast(type).at(i));
    return values;
  };
  EXPECT_EQ(as(DType::kUInt8), (std::vector<double>{0, 2, 255, 255, 0, 0}));
  EXPECT_EQ(as(DType::kInt32), (std::vector<double>{-1, 2, 300, 2147483647, -2147483648.0, 0}));
  EXPECT_EQ(x.cast(DType::kFloat32).cast(DType::kInt32).at(3), 2147483647);
}

TEST(Tensor, is_rejected_if_it_needs_more_memory_than_is_free) {
  const auto free = available_memory();
  ASSERT_TRUE(free.has_value());
  const auto too_much = static_cast<int64_t>(*free + (uint64_t{4} << 30U));
  try {
    const Tensor t(DType::kUInt8, Shape{too_much});
    FAIL() << "was given";
  } catch (const ResourceError& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("not enough memory for a tensor of " + human_bytes(static_cast<uint64_t>(too_much)) + "; "),
        std::string::npos)
        << error.what();
  }
}

TEST(Tensor, rows_are_a_window) {
  const Tensor a = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor last = a.rows(1, 3);
  EXPECT_EQ(last.shape(), (Shape{2, 2}));
  EXPECT_EQ(last.at(0), 3);
  last.data<float>()[0] = 9;
  EXPECT_EQ(a.at(2), 9);
  EXPECT_EQ(a.rows(3, 3).elements(), 0);
  EXPECT_THROW(a.rows(2, 4), InternalError);
}

TEST(Tensor, is_aligned_for_simd) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(Tensor(DType::kUInt8, {3}).raw()) % 64, 0U);
}

TEST(Tensor, casts_between_types) {
  const Tensor bytes = Tensor::of<uint8_t>({3}, {0, 7, 255});
  EXPECT_EQ(max_difference(bytes.cast(DType::kFloat64), Tensor::of<double>({3}, {0, 7, 255})), 0);
  EXPECT_THROW(bytes.data<float>(), InternalError);
}

}  // namespace
}  // namespace tpack
