#include "records/writer/growing_file.h"

#include <cstring>
#include <filesystem>

#include "core/error.h"

namespace tpack {

GrowingFile::GrowingFile(const std::string& folder) : data_path_(folder + "/data"), ends_{0} {
  const std::string ends_path = folder + "/ends";
  const auto stored = read_whole_file(ends_path);
  std::error_code gone;
  const uint64_t there = std::filesystem::file_size(data_path_, gone);
  for (size_t at = 0; !gone && stored && at + sizeof(uint64_t) <= stored->size(); at += sizeof(uint64_t)) {
    uint64_t end = 0;
    std::memcpy(&end, stored->data() + at, sizeof end);
    if (end > there || end <= ends_.back()) break;
    ends_.push_back(end);
  }
  saved_ = ends_.size();
  data_ = std::make_unique<AppendFile>(data_path_, ends_.back());
  ends_file_ = std::make_unique<AppendFile>(ends_path, (ends_.size() - 1) * sizeof(uint64_t));
}

void GrowingFile::append(std::string_view record) {
  constexpr size_t kTogether = size_t{4} << 20U;
  buffer_ += record;
  ends_.push_back(ends_.back() + record.size());
  if (buffer_.size() < kTogether) return;
  data_->write(buffer_);
  buffer_.clear();
}

void GrowingFile::save() {
  data_->write(buffer_);
  buffer_.clear();
  data_->sync();
  const std::span<const uint64_t> added = std::span(ends_).subspan(saved_);
  ends_file_->write({reinterpret_cast<const char*>(added.data()), added.size_bytes()});
  ends_file_->sync();
  saved_ = ends_.size();
}

void GrowingFile::finish(const std::string& path, const RecordLayout& layout, std::string_view tail) {
  save();
  data_->write(tail);
  data_->sync();
  data_->close();
  ends_file_->close();
  write_record_index(data_path_, layout, ends_);
  std::filesystem::rename(index_path(data_path_), index_path(path));
  std::filesystem::rename(data_path_, path);
}

}  // namespace tpack
