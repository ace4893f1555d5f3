#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/spec.h"

namespace tpack {

class Datapoint;
class MappedFile;

/// A sample as bytes: its index and repetition, then the sizes and elements of each component. Images become
/// pixels. Errors: DataError if a component does not have the type of the spec.
std::string sample_bytes(Datapoint& sample, const Spec& spec);
/// The opposite, with the pass 0. Errors: DataError if the bytes are not such a sample.
void read_sample(std::string_view bytes, const Spec& spec, Datapoint& out);

/// A file of samples, in any order: a header with the digest of what they were made of, the samples, their
/// positions. Threads: any number at once.
class CacheFile {
 public:
  /// Null if there is no complete file with this digest; then `stale` says why, if there is a file.
  static std::unique_ptr<CacheFile> open(const std::string& path, const std::string& digest,
                                         std::string& stale);
  /// Writes a file: `write` calls its parameter for each sample, in order; nothing for a sample that cannot
  /// be read. The file appears with its last sample. Errors: ResourceError; those of `write`.
  using Add = std::function<void(const std::optional<std::string>& sample)>;
  static void write(const std::string& path, const std::string& digest,
                    const std::function<void(const Add&)>& write);
  ~CacheFile();

  int64_t size() const;
  /// Nothing if it could not be read when the file was written.
  std::optional<std::string_view> sample(int64_t index) const;

 private:
  CacheFile(std::unique_ptr<MappedFile> file, size_t positions, int64_t size);

  std::unique_ptr<MappedFile> file_;
  size_t positions_;  // where they begin
  int64_t size_;
};

/// Holds a lock on a file next to `path`, so that one of several processes at a time writes it. Waits for it.
/// Errors: ResourceError.
class CacheLock {
 public:
  explicit CacheLock(const std::string& path);
  ~CacheLock();
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  int file_;
};

}  // namespace tpack
