#pragma once

#include <fstream>
#include <mutex>
#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

/// Writes bad samples to a file, one line each time one is found; the first one creates the file or is
/// appended. Before the file is named, the lines are kept in memory. If the file cannot be written, this is
/// reported once. Must outlive the readers of the flows it watches. Threads: any thread may report samples.
class BadSampleList {
 public:
  BadSampleList() = default;
  BadSampleList(const BadSampleList&) = delete;
  BadSampleList& operator=(const BadSampleList&) = delete;

  /// Starts listing the samples of flow `name`; call it before the flow is read.
  void watch(const std::string& name, const DataFlow& flow);
  /// Names the file, and writes the samples found before.
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

/// A warning if the flow had bad samples: "data.train: 1,200 bad samples were left out or replaced", and
/// `where` after it.
void warn_of_bad_samples(const std::string& name, const DataFlow& flow, const std::string& where = "");

}  // namespace tpack
