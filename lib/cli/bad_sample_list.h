#pragma once

#include <fstream>
#include <mutex>
#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

/// Lists bad samples in a file that is made, or grows, with the first one: a line each, every time one is
/// met. A file that cannot be written is reported once. Must outlive the readers of the flows it watches.
/// Threads: samples are reported by any.
class BadSampleList {
 public:
  explicit BadSampleList(std::string path) : path_(std::move(path)) {}
  BadSampleList(const BadSampleList&) = delete;
  BadSampleList& operator=(const BadSampleList&) = delete;

  /// Lists the samples of flow `name` from now on; before it is read.
  void watch(const std::string& name, const DataFlow& flow);

 private:
  void add(const std::string& line);

  std::string path_;
  std::mutex mutex_;
  std::ofstream file_;
  bool failed_ = false;
};

}  // namespace tpack
