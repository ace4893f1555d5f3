#include "records/sharded_source.h"

#include "dataflow/file_stamp.h"

namespace tpack {

ShardedSource::ShardedSource(const std::string& owner, RecordParams params, FilePatterns files,
                             const RecordLayout& layout)
    : RecordSource(owner, std::move(params)), owner_(owner), files_(std::move(files)), layout_(layout) {}

std::string ShardedSource::fingerprint() const {
  std::string stamps;
  for (const std::string& file : files_.files(owner_)) stamps += file_stamp(file);
  return stamps;
}

}  // namespace tpack
