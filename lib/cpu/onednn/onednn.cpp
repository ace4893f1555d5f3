#include "cpu/onednn/onednn.h"

#include <malloc.h>

#include <oneapi/dnnl/dnnl.hpp>

// From libgomp, which Debian's oneDNN uses. Declared here because <omp.h> belongs to the compiler: with clang
// it would add a second OpenMP runtime, which oneDNN does not use.
extern "C" void omp_set_num_threads(int count);

namespace tpack::cpu {

void forget_primitives() {
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);
  dnnl::set_primitive_cache_capacity(capacity);
  malloc_trim(0);
}

namespace {

bool has(dnnl::cpu_isa wanted) {
  const auto needed = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
}

}  // namespace

bool has_avx512() { return has(dnnl::cpu_isa::avx512_core); }
bool has_amx() { return has(dnnl::cpu_isa::avx512_core_amx); }
bool has_products_of(DType factors) {
  return factors == DType::kBFloat16 && has(dnnl::cpu_isa::avx512_core_bf16);
}

void use_one_onednn_thread() { omp_set_num_threads(1); }

}  // namespace tpack::cpu
