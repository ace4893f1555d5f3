#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/mapping_guard.h"

namespace tpack {

/// The records of an LMDB database, in the order of their keys. The database is mapped into memory; nothing
/// is written, not even a lock file, so it may be on a read-only disk. It must not be written to while it is
/// open. Threads: any number at once.
class LmdbReader {
 public:
  /// Reads all keys. `path`: a folder with data.mdb, or a file. Errors: DataError with the path if it is
  /// missing, not a database, truncated, or has no records.
  explicit LmdbReader(const std::string& path);
  ~LmdbReader();
  LmdbReader(const LmdbReader&) = delete;
  LmdbReader& operator=(const LmdbReader&) = delete;

  /// As InputFile::stamp.
  std::string stamp() const;
  int64_t size() const { return static_cast<int64_t>(records_.size()); }
  std::string_view key(int64_t index) const { return records_[static_cast<size_t>(index)].key; }
  std::span<const uint8_t> value(int64_t index) const { return records_[static_cast<size_t>(index)].value; }

 private:
  struct Handle;
  struct Entry {
    std::string_view key;
    std::span<const uint8_t> value;
  };
  void guard(const std::string& file);

  std::unique_ptr<Handle> handle_;
  std::vector<Entry> records_;  // in the mapped file, as long as the transaction of `handle_` is open
  std::optional<MappingGuard> guard_;
};

/// The file with the records of the database at `path`.
std::string lmdb_file(const std::string& path);

}  // namespace tpack
