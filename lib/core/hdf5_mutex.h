#pragma once

#include <mutex>

namespace tpack {

/// libhdf5 as distributions build it is not safe for threads: whoever calls it, anywhere in the process,
/// holds this.
inline std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace tpack
