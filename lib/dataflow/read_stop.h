#pragma once

#include <stop_token>

namespace tpack {

/// While it exists, sources that wait for others on this thread (a program, a server) end their wait when a
/// stop is requested. Threads: one.
class ReadStop {
 public:
  explicit ReadStop(std::stop_token stop);
  ~ReadStop();
  ReadStop(const ReadStop&) = delete;
  ReadStop& operator=(const ReadStop&) = delete;

  /// True if this thread has one and its stop was requested.
  static bool requested();

 private:
  std::stop_token before_;
};

}  // namespace tpack
