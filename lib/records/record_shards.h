#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataflow/source_parts.h"
#include "sources/format/tar.h"
#include "system/input_file.h"

namespace tpack {

/// How files of records are divided into records.
struct RecordLayout {
  const char* name;  // "a TFRecord file", for messages
  uint32_t number;   // in index files
  /// Where the records of a file begin, in order, and, at the end, where the last one ends. Errors:
  /// DataError.
  std::vector<uint64_t> (*find_records)(const ReadAt& read, uint64_t size, const std::string& path);
};

/// The name of the index of a file of records.
std::string index_path(const std::string& path);
/// Finds the records of a file; none are an error. Errors: DataError.
std::vector<uint64_t> find_records(const InputFile& file, const std::string& path,
                                   const RecordLayout& layout);
/// Writes the index of a file. `offsets`: as of RecordLayout::find_records. Errors: ResourceError.
void write_record_index(const std::string& path, const RecordLayout& layout,
                        std::span<const uint64_t> offsets);

/// Open files of records, and where each record is. A file whose index lies next to it (index_path) opens at
/// once; otherwise its headers are read. An index that does not belong to its file is not used, with a
/// warning. Threads: const methods may run at once.
class RecordShards {
 public:
  /// Errors: DataError with the path for a file that cannot be read.
  RecordShards(std::vector<std::string> paths, const RecordLayout& layout);
  ~RecordShards();
  RecordShards(const RecordShards&) = delete;
  RecordShards& operator=(const RecordShards&) = delete;

  struct Place {
    size_t shard = 0;
    int64_t number = 0;  // in its file
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  int64_t size() const { return firsts_.back(); }
  uint64_t bytes() const;
  const std::vector<std::string>& paths() const { return paths_; }
  Place locate(int64_t index) const;
  /// The bytes of a record, read to the begin of a buffer, which never becomes smaller. Errors: DataError if
  /// the file has become shorter; ResourceError.
  std::span<const uint8_t> read(const Place& place, std::vector<uint8_t>& buffer) const;
  /// "a.tfrecord[12]".
  std::string name_of(int64_t index) const;
  /// The stamps of all files, under the name of the first one that has changed since it was opened, or of the
  /// first.
  OpenFile open_file() const;

 private:
  struct Shard {
    std::unique_ptr<InputFile> file;
    std::string stamp = {};  // when it was opened
    std::span<const uint64_t> offsets;
    std::shared_ptr<const void> owner;  // of the offsets
  };
  static Shard open(const std::string& path, const RecordLayout& layout);

  std::vector<std::string> paths_;
  std::vector<Shard> shards_;
  std::vector<int64_t> firsts_;  // number of the first record of each shard, and of all records
};

}  // namespace tpack
