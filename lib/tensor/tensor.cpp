#include "tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/mman.h>

#include "core/machine.h"
#include "core/text.h"
#include "tensor/cast.h"

namespace tpack {

std::string TensorSpec::str() const { return std::string(name_of(dtype)) + " " + shape.str(); }

namespace {

/// The kernel promises more than it has, and ends the process later; so large blocks are asked for here.
void require_memory(size_t bytes) {
  constexpr size_t kLeastToAsk = size_t{256} << 20U;
  if (bytes < kLeastToAsk) return;
  const auto free = available_memory();
  if (!free || bytes <= *free) return;
  throw ResourceError("not enough memory for a tensor of " + human_bytes(bytes) + "; " + human_bytes(*free) +
                      " is free");
}

}  // namespace

std::shared_ptr<Storage> Storage::allocate(size_t bytes) {
  require_memory(bytes);
  constexpr size_t kAlignment = 64;
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (data == nullptr) throw ResourceError("not enough memory for a tensor of " + human_bytes(bytes));
  return std::make_shared<Storage>(data, bytes,
                                   std::shared_ptr<const void>(data, [](std::byte* p) { std::free(p); }));
}

std::shared_ptr<Storage> Storage::allocate_zeros(size_t bytes) {
  constexpr size_t kLeastToMap = size_t{128} << 10U;
  if (bytes < kLeastToMap) {
    auto storage = allocate(bytes);
    std::memset(storage->data(), 0, bytes);
    return storage;
  }
  require_memory(bytes);
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw ResourceError("not enough memory for a tensor of " + human_bytes(bytes));
  return std::make_shared<Storage>(static_cast<std::byte*>(data), bytes,
                                   std::shared_ptr<const void>(data, [bytes](void* p) { munmap(p, bytes); }));
}

std::shared_ptr<Storage> Storage::view(std::byte* data, size_t bytes, std::shared_ptr<const void> owner) {
  return std::make_shared<Storage>(data, bytes, std::move(owner));
}

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

Tensor Tensor::clone() const {
  Tensor copy(spec_);
  std::memcpy(copy.raw(), raw(), bytes());
  return copy;
}

Tensor Tensor::cast(DType type) const {
  Tensor out(type, shape());
  visit(dtype(), [&](auto from) {
    visit(type, [&](auto to) {
      const auto in = span<decltype(from)>();
      std::transform(in.begin(), in.end(), out.data<decltype(to)>(),
                     [](auto value) { return cast_element<decltype(to)>(value); });
    });
  });
  return out;
}

double Tensor::at(int64_t index) const {
  return visit(dtype(), [&](auto zero) { return static_cast<double>(data<decltype(zero)>()[index]); });
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
