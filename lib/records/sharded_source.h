#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fields/file_patterns.h"
#include "records/record_shards.h"
#include "records/record_source.h"

namespace tpack {

/// A source of records in one file or several, whose places are known before they are read (RecordShards).
class ShardedSource : public RecordSource {
 public:
  /// `owner`: "TFRecord", for messages.
  ShardedSource(const std::string& owner, RecordParams params, FilePatterns files,
                const RecordLayout& layout);

  const char* path_field() const override { return "files"; }
  int64_t size() const override { return shards_ == nullptr ? 0 : shards_->size(); }
  std::string fingerprint() const override;
  std::optional<OpenFile> open_file() const override { return shards_->open_file(); }
  std::string file_of(int64_t index) const override { return shards_->name_of(index); }

 protected:
  const RecordShards& shards() const { return *shards_; }
  void open() override { shards_ = std::make_unique<RecordShards>(files_.files(owner_), layout_); }
  uint64_t bytes() const override { return shards_->bytes(); }
  std::string first_file() const override { return shards_->paths()[0]; }

 private:
  std::string owner_;
  FilePatterns files_;
  const RecordLayout& layout_;
  std::unique_ptr<RecordShards> shards_;
};

}  // namespace tpack
