#pragma once

#include <fstream>
#include <mutex>
#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

/// Lists bad samples in a file that is made, or grows, with the first one: one line each, every time one is
/// met. Until the file is named, the lines are kept. A file that cannot be written is reported once. Must
/// outlive the readers of the flows it watches.
/// Threads: samples are reported by any.
class BadSampleList {
 public:
  BadSampleList() = default;
  BadSampleList(const BadSampleList&) = delete;
  BadSampleList& operator=(const BadSampleList&) = delete;

  /// Lists the samples of flow `name` from now on; before it is read.
  void watch(const std::string& name, const DataFlow& flow);
  /// Names the file, and writes what was met before.
  void write_to(std::string path);

 private:
  void add(const std::string& line);
  void write(const std::string& lines);

  std::mutex mutex_;
  std::string path_;     // empty: not named yet
  std::string waiting_;  // lines
  std::ofstream file_;
  bool failed_ = false;
};

/// A warning if the flow met bad samples: "data.train: 1,200 bad samples were left out or replaced", and
/// `where` after it.
void warn_of_bad_samples(const std::string& name, const DataFlow& flow, const std::string& where = "");

}  // namespace tpack
