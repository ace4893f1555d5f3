#include "backend/cpu/onednn_threads.h"

// Of libgomp, which Debian's oneDNN is built on. Declared here because <omp.h> belongs to the compiler: with
// clang it would bring another OpenMP runtime, which oneDNN does not use.
extern "C" void omp_set_num_threads(int count);

namespace tpack::cpu {

void use_one_onednn_thread() { omp_set_num_threads(1); }

}  // namespace tpack::cpu
