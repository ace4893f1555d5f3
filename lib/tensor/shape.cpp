#include "tensor/shape.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace tpack {

Shape::Shape(std::span<const int64_t> sizes) : rank_(sizes.size()) {
  if (sizes.size() > kMaxRank) {
    throw ConfigError("a shape of " + std::to_string(sizes.size()) + " axes; at most 8 are supported");
  }
  for (const int64_t size : sizes) {
    if (size < kUnknown) throw ConfigError("a shape with the negative size " + std::to_string(size));
  }
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
}

bool Shape::known() const {
  return std::none_of(sizes().begin(), sizes().end(), [](int64_t size) { return size == kUnknown; });
}

int64_t Shape::elements() const {
  constexpr int64_t kMax = int64_t{1} << 35;
  int64_t product = 1;
  for (const int64_t size : sizes()) {
    if (size == kUnknown) throw ShapeError("the size of " + str() + " is not known yet");
    if (size != 0 && product > kMax / size)
      throw ShapeError("shape " + str() + " has more than 2^35 elements");
    product *= size;
  }
  return product;
}

Shape Shape::with(int axis, int64_t size) const {
  Shape out = *this;
  out.sizes_[static_cast<size_t>(axis < 0 ? axis + static_cast<int>(rank_) : axis)] = size;
  return out;
}

Shape Shape::prepend(int64_t size) const {
  std::vector<int64_t> all = {size};
  all.insert(all.end(), sizes().begin(), sizes().end());
  return Shape(all);
}

Shape Shape::drop_front() const { return Shape(sizes().subspan(1)); }

std::string Shape::str() const {
  std::vector<std::string> parts;
  for (const int64_t size : sizes()) parts.push_back(size == kUnknown ? "?" : std::to_string(size));
  return "[" + join(parts, ", ") + "]";
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(sizes().begin(), sizes().end(), other.sizes().begin(), other.sizes().end());
}

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  for (int axis = -static_cast<int>(shorter.rank()); axis < 0; ++axis) {
    const int64_t there = longer[axis];
    const int64_t here = shorter[axis];
    const bool are_known = there != Shape::kUnknown && here != Shape::kUnknown;
    if (are_known && there != here && there != 1 && here != 1)
      throw ShapeError("shapes " + a.str() + " and " + b.str() +
                       " do not broadcast: " + std::to_string(there) + " against " + std::to_string(here));
    if (there == 1 || (there == Shape::kUnknown && here != 1)) out = out.with(axis, here);
  }
  return out;
}

}  // namespace tpack
