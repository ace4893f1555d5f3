#include "cpu/denormals.h"

#include <immintrin.h>

namespace tpack::cpu {
namespace {

constexpr uint32_t kFlushToZero = 0x8000;       // results
constexpr uint32_t kDenormalsAreZero = 0x0040;  // operands

}  // namespace

FlushDenormals::FlushDenormals() : before_(_mm_getcsr()) {
  _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero);
}

FlushDenormals::~FlushDenormals() { _mm_setcsr(before_); }

}  // namespace tpack::cpu
