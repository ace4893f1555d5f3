#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "records/record_shards.h"
#include "system/file_io.h"

namespace tpack {

/// A file of records that grows, with a second file of where each record ends: after an interruption, it goes
/// on behind the last record that was saved. Errors: ResourceError.
class GrowingFile {
 public:
  /// Opens `folder`/data.
  explicit GrowingFile(const std::string& folder);

  int64_t records() const { return static_cast<int64_t>(ends_.size()) - 1; }
  void append(std::string_view record);
  void save();
  /// Ends with `tail`, and becomes the file at `path`, with its index.
  void finish(const std::string& path, const RecordLayout& layout, std::string_view tail);

 private:
  std::string data_path_;
  std::vector<uint64_t> ends_;  // of all records, after the 0 of their beginning
  size_t saved_ = 1;            // of them
  std::unique_ptr<AppendFile> data_;
  std::unique_ptr<AppendFile> ends_file_;
  std::string buffer_;
};

}  // namespace tpack
