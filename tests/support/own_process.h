#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <thread>

#include "core/clock.h"

/// What this process holds.
namespace tpack {

inline size_t entries_of_folder(const char* folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}
/// Open files and sockets, and one more: the folder in which they are counted.
inline size_t open_files() { return entries_of_folder("/proc/self/fd"); }
inline size_t threads() { return entries_of_folder("/proc/self/task"); }

/// The number, once it is at most `expected`, or after a minute.
inline size_t number_left(size_t (*number)(), size_t expected) {
  constexpr double kMostS = 60;
  const Stopwatch watch;
  size_t left = number();
  while (left > expected && watch.seconds() < kMostS) {
    std::this_thread::yield();
    left = number();
  }
  return left;
}
/// The kernel lists a thread for a moment after it is joined.
inline size_t threads_left(size_t expected) { return number_left(threads, expected); }
/// A server closes its sockets a moment after its clients.
inline size_t files_left(size_t expected) { return number_left(open_files, expected); }

}  // namespace tpack
