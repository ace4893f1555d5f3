#pragma once

#include <sstream>
#include <string>

#include "support/temporary_folder.h"
#include "system/log.h"

namespace tpack {

/// Captures the log lines that would go to stderr while it exists.
class CapturedLog {
 public:
  CapturedLog() {
    log::set_level(log::Level::kOff);
    log::to_file(folder_ / "log.txt");
  }
  ~CapturedLog() {
    log::close_file();
    log::set_level(log::Level::kInfo);
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  /// The lines so far, without their time stamps.
  std::string text() const {
    std::istringstream lines(content_of(folder_ / "log.txt"));
    std::string all;
    for (std::string line; std::getline(lines, line);) {
      const size_t stamp = line.find("] ");  // of the first line of a message
      all += (stamp == std::string::npos ? line : line.substr(stamp + 2)) + "\n";
    }
    return all;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace tpack
