#include "backend/cpu/denormals.h"

#include <immintrin.h>

namespace tpack::cpu {
namespace {

constexpr uint32_t kFlushToZero = 0x8000;       // results
constexpr uint32_t kDenormalsAreZero = 0x0040;  // operands

void flush_here() { _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero); }

}  // namespace

FlushDenormals::FlushDenormals(int threads) : before_(_mm_getcsr()) {
  flush_here();  // before the team: threads that start inherit it
  if (threads == 1) return;
#pragma omp parallel num_threads(threads)
  flush_here();
}

FlushDenormals::~FlushDenormals() { _mm_setcsr(before_); }

}  // namespace tpack::cpu
