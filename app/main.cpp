#include <csignal>
#include <malloc.h>

#include "cli/program.h"

int main(int argc, char** argv) {
  // Blocks of this size go back to the system when they are freed. Left to itself malloc raises the limit
  // with each such block, and what compiling and measuring used would stay with the process. Nor does glibc
  // before 2.38 find aligned blocks again that were freed (its bug 14581), which oneDNN takes for each
  // product. A mapping costs page faults: a limit of 256 kB made steps of mnist-convnet 3 % slower.
  constexpr int kLargeBlock = 1 << 19;
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  // A file beyond the limit (ulimit -f) is an error of that write, as a full disk is, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  // A parent may have ignored it; then nobody could learn how the processes end that tpack starts.
  std::signal(SIGCHLD, SIG_DFL);
  return tpack::run_program(argc, argv);
}
