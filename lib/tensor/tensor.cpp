#include "tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/text.h"
#include "tensor/cast.h"

namespace tpack {

std::string TensorSpec::str() const { return std::string(name_of(dtype)) + " " + shape.str(); }

Tensor::Tensor(TensorSpec spec)
    : spec_(spec), storage_(Storage::allocate(static_cast<size_t>(spec.bytes()))) {}

Tensor::Tensor(TensorSpec spec, std::shared_ptr<Storage> storage, size_t offset)
    : spec_(spec), storage_(std::move(storage)), offset_(offset) {
  TPACK_ASSERT(offset_ + bytes() <= storage_->bytes(), "window past the end of its storage");
}

Tensor Tensor::zeros(TensorSpec spec) {
  return {spec, Storage::allocate_zeros(static_cast<size_t>(spec.bytes()))};
}

Tensor Tensor::row(int64_t index) const {
  const TensorSpec spec{dtype(), shape().drop_front()};
  return {spec, storage_, offset_ + static_cast<size_t>(index * spec.bytes())};
}

Tensor Tensor::rows(int64_t begin, int64_t end) const {
  TPACK_ASSERT(begin >= 0 && begin <= end && end <= shape()[0], "rows of " + spec_.str());
  const size_t row_bytes = shape()[0] == 0 ? 0 : bytes() / static_cast<size_t>(shape()[0]);
  return {TensorSpec{dtype(), shape().with(0, end - begin)}, storage_,
          offset_ + static_cast<size_t>(begin) * row_bytes};
}

Tensor Tensor::reshaped(Shape shape) const {
  TPACK_ASSERT(shape.elements() == elements(), "reshape of " + spec_.str() + " to " + shape.str());
  return {TensorSpec{dtype(), shape}, storage_, offset_};
}

Tensor Tensor::window(TensorSpec spec, size_t offset) const {
  TPACK_ASSERT(offset + static_cast<size_t>(spec.bytes()) <= bytes(),
               "window past the end of " + spec_.str());
  return {spec, storage_, offset_ + offset};
}

Tensor Tensor::host() const { return on_host() ? *this : clone(); }

Tensor Tensor::clone() const {
  Tensor copy(spec_);
  copy.copy_from(*this);
  return copy;
}

void Tensor::copy_from(const Tensor& from) const {
  TPACK_ASSERT(from.dtype() == dtype() && from.elements() == elements(),
               "a copy of " + from.spec().str() + " to " + spec_.str());
  Memory& here = storage_->memory();
  if (address() == from.address()) return;
  if (&here == &from.storage_->memory()) return here.copy(address(), from.address(), bytes());
  if (from.on_host()) return here.write(address(), from.address(), bytes());
  if (on_host()) return from.storage_->memory().read(address(), from.address(), bytes());
  copy_from(from.host());
}

Tensor Tensor::cast(DType type) const {
  Tensor out(type, shape());
  visit_any(dtype(), [&](auto from) {
    visit_any(type, [&](auto to) {
      const auto in = span<decltype(from)>();
      std::transform(in.begin(), in.end(), out.data<decltype(to)>(),
                     [](auto value) { return cast_element<decltype(to)>(value); });
    });
  });
  return out;
}

double Tensor::at(int64_t index) const {
  return visit_any(dtype(), [&](auto zero) { return static_cast<double>(data<decltype(zero)>()[index]); });
}

bool bit_equal(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

double max_difference(const Tensor& a, const Tensor& b) {
  TPACK_ASSERT(a.shape() == b.shape(), "max_difference of " + a.spec().str() + " and " + b.spec().str());
  double worst = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double difference = std::abs(a.at(i) - b.at(i));
    if (std::isnan(difference)) return std::numeric_limits<double>::quiet_NaN();
    worst = std::max(worst, difference);
  }
  return worst;
}

}  // namespace tpack
