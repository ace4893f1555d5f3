#include <malloc.h>

#include "cli/program.h"

int main(int argc, char** argv) {
  // Blocks of this size go back to the system when they are freed. Left to itself malloc raises the limit
  // with each such block, and what compiling and measuring used would stay with the process.
  constexpr int kLargeBlock = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  return tpack::run_program(argc, argv);
}
