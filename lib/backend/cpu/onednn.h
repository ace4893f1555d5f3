#pragma once

namespace tpack::cpu {

/// Makes oneDNN use the calling thread alone, for primitives that this thread creates and for those that it
/// runs. Threads come from the Team, which runs one primitive per piece.
void use_one_onednn_thread();

/// Frees the primitives that oneDNN keeps for those that ask for the same once more: after many were tried.
void forget_primitives();

}  // namespace tpack::cpu
