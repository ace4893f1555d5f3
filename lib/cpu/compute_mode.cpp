#include "cpu/compute_mode.h"

#include <initializer_list>

namespace tpack::cpu {
namespace {

sigset_t all_but_faults() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&all, fault);
  return all;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled by the call
ComputeMode::ComputeMode() {
  static const sigset_t kBlocked = all_but_faults();
  pthread_sigmask(SIG_BLOCK, &kBlocked, &before_);
}

ComputeMode::~ComputeMode() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace tpack::cpu
