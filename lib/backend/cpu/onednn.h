#pragma once

namespace tpack::cpu {

/// Makes oneDNN use only the calling thread, both for primitives that this thread creates and for those that
/// it runs. Threads come from the Team, which runs one primitive per piece.
void use_one_onednn_thread();

/// Frees the primitives in oneDNN's cache; called after many were tried.
void forget_primitives();

}  // namespace tpack::cpu
