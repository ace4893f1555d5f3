#pragma once

#include <cstdint>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace tpack {

/// While it lives, the process may map `more` bytes beyond those that it has mapped.
class LimitedAddressSpace {
 public:
  explicit LimitedAddressSpace(uint64_t more) {
    uint64_t all_pages = 0;
    std::ifstream("/proc/self/statm") >> all_pages;
    if (getrlimit(RLIMIT_AS, &before_) != 0) return;
    rlimit limited = before_;
    limited.rlim_cur = all_pages * static_cast<uint64_t>(getpagesize()) + more;
    is_lower_ = limited.rlim_cur > before_.rlim_max;
    is_set_ = !is_lower_ && setrlimit(RLIMIT_AS, &limited) == 0;
  }
  ~LimitedAddressSpace() {
    if (is_set_) setrlimit(RLIMIT_AS, &before_);
  }
  LimitedAddressSpace(const LimitedAddressSpace&) = delete;
  LimitedAddressSpace& operator=(const LimitedAddressSpace&) = delete;

  /// The limit of the process was lower already, so nothing was set.
  bool is_lower() const { return is_lower_; }
  bool is_set() const { return is_set_; }

 private:
  rlimit before_{};
  bool is_lower_ = false;
  bool is_set_ = false;
};

}  // namespace tpack
