#pragma once

#include "tensor/dtype.h"

namespace tpack::cpu {

/// Makes oneDNN use only the calling thread, both for primitives that this thread creates and for those that
/// it runs. Threads come from the Team, which runs one primitive per piece.
void use_one_onednn_thread();

/// True if oneDNN's kernels for blocks of 16 channels, among them Winograd's, exist on this CPU.
bool has_avx512();

/// True if oneDNN multiplies bfloat16 by tiles.
bool has_amx();
/// True if products of factors of that type (other than float32) are at least as fast as those of float32.
bool has_products_of(DType factors);

/// Frees the primitives in oneDNN's cache; called after many were tried.
void forget_primitives();

}  // namespace tpack::cpu
