#pragma once

#include <mutex>

namespace tpack {

/// libhdf5 as built by distributions is not thread-safe: every caller in the process must hold this mutex.
inline std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace tpack
