#pragma once

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <poll.h>
#include <random>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>
#include <vector>

#include "support/program_runner.h"
#include "system/file_io.h"

namespace tpack::reliability {

/// Random numbers from a seed that is printed; TPACK_TEST_SEED repeats a run.
class Dice {
 public:
  Dice() {
    const char* given = std::getenv("TPACK_TEST_SEED");
    const unsigned seed =
        given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
    std::cout << "random moments from TPACK_TEST_SEED=" << seed << std::endl;
    random_.seed(seed);
  }
  /// From `low` to `high`, inclusive.
  int roll(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  std::mt19937 random_;
};

/// Reports that a file has appeared in a folder, as soon as the kernel knows.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& folder) : descriptor_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    inotify_add_watch(descriptor_, folder.c_str(), IN_CREATE);
  }
  ~FolderWatch() { close(descriptor_); }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// Waits for the next file; false if none appears for a long time.
  bool wait() const {
    constexpr int kTimeoutMs = 10'000;
    std::array<char, 4096> events{};
    while (read(descriptor_, events.data(), events.size()) > 0) {
    }  // earlier ones
    pollfd ready{descriptor_, POLLIN, 0};
    return poll(&ready, 1, kTimeoutMs) == 1;
  }

 private:
  int descriptor_;
};

/// Names of files in a folder that a process has not finished, or never will.
inline std::vector<std::string> unfinished_files(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_temporary_name(entry.path().filename().string())) names.push_back(entry.path().filename());
  }
  return names;
}

/// Waits until the run has saved `saves` checkpoints, and then for `polls` more polls of some microseconds
/// each, so that any place in a step may be hit. False if the run ended before.
inline bool wait_for_saves(testing_cli::Process& process, int saves, int polls) {
  for (int i = 0; i < saves; ++i) {
    if (!process.wait_for(" saved ")) return false;
  }
  for (int i = 0; i < polls; ++i) process.signal(0);
  return true;
}

}  // namespace tpack::reliability
