#include "comm/compression.h"

#include "core/error.h"
#include "tensor/half.h"

namespace tpack {

void compress(std::span<const float> from, std::span<uint16_t> to, Compression compression) {
  TPACK_ASSERT(compression != Compression::kNone && to.size() == from.size(), "nothing to compress");
  if (compression == Compression::kFp16) return convert(from, reinterpret_cast<Float16*>(to.data()));
  convert(from, reinterpret_cast<BFloat16*>(to.data()));
}

void expand(std::span<const uint16_t> from, std::span<float> to, Compression compression) {
  TPACK_ASSERT(compression != Compression::kNone && to.size() == from.size(), "nothing to expand");
  if (compression == Compression::kFp16)
    return convert({reinterpret_cast<const Float16*>(from.data()), from.size()}, to.data());
  convert({reinterpret_cast<const BFloat16*>(from.data()), from.size()}, to.data());
}

}  // namespace tpack
