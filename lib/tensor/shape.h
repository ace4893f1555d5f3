#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tpack {

/// Sizes of up to eight axes, stored inline. kUnknown (-1) is a size that is known only from the data.
class Shape {
 public:
  static constexpr size_t kMaxRank = 8;
  static constexpr int64_t kUnknown = -1;

  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  /// Errors: ConfigError for more than kMaxRank axes or a negative size that is not kUnknown.
  explicit Shape(std::span<const int64_t> sizes);
  explicit Shape(const std::vector<int64_t>& sizes) : Shape(std::span(sizes)) {}

  size_t rank() const { return rank_; }
  /// Axis sizes; negative indices count from the end.
  int64_t operator[](int axis) const {
    return sizes_[static_cast<size_t>(axis < 0 ? axis + static_cast<int>(rank_) : axis)];
  }
  std::span<const int64_t> sizes() const { return {sizes_.data(), rank_}; }
  bool known() const;
  /// Product of the sizes, 1 for a scalar. Errors: ConfigError if it is unknown or above 2^35.
  int64_t elements() const;
  /// This shape with one axis changed, put in front, or removed.
  Shape with(int axis, int64_t size) const;
  Shape prepend(int64_t size) const;
  Shape drop_front() const;
  /// "[128, 1, 28, 28]"; unknown sizes as '?'.
  std::string str() const;
  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  size_t rank_ = 0;
};

/// NumPy's rule: trailing axes are lined up, and sizes are equal, 1 or unknown. Errors: ShapeError naming
/// both shapes.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace tpack
